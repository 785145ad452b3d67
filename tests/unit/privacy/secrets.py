"""Secrets of every kind, put together here so that nothing which looks for such finds them in this file."""

from __future__ import annotations

RANDOM = "q7Zt0Kx3" * 8
HEX = "0f1e2d3c" * 8

SECRETS = {
    "anthropic_key": f"sk-ant-api03-{RANDOM[:40]}",
    "openai_key": f"sk-proj-{RANDOM[:48]}",
    "stripe_key": f"sk_live_{RANDOM[:24]}",
    "aws_access_key": "AKIA" + "Q7ZT0KX3" * 2,
    "github_token": f"ghp_{RANDOM[:36]}",
    "gitlab_token": f"glpat-{RANDOM[:20]}",
    "google_key": f"AIza{RANDOM[:35]}",
    "slack_token": f"xoxb-{'12345678' * 3}-{RANDOM[:24]}",
    "slack_webhook": f"hooks.slack.com/services/T{RANDOM[:9]}/B{RANDOM[:9]}/{RANDOM[:24]}",
    "huggingface_token": f"hf_{RANDOM[:34]}",
    "groq_key": f"gsk_{RANDOM[:52]}",
    "xai_key": f"xai-{RANDOM}{RANDOM[:16]}",
    "perplexity_key": f"pplx-{RANDOM[:48]}",
    "replicate_token": f"r8_{RANDOM[:37]}",
    "tavily_key": f"tvly-dev-{RANDOM[:32]}",
    "langsmith_key": f"lsv2_pt_{HEX[:32]}_{HEX[:10]}",
    "langfuse_key": f"sk-lf-{HEX[:8]}-{HEX[:4]}-{HEX[:4]}-{HEX[:4]}-{HEX[:12]}",
    "pinecone_key": f"pcsk_{RANDOM[:60]}",
    "npm_token": f"npm_{RANDOM[:36]}",
    "pypi_token": f"pypi-AgEIcHlwaS5vcmc{RANDOM}",
    "sendgrid_key": f"SG.{RANDOM[:22]}.{RANDOM[:43]}",
    "digitalocean_token": f"dop_v1_{HEX}",
    "databricks_token": f"dapi{HEX[:32]}",
    "vault_token": f"hvs.{RANDOM[:40]}",
    "telegram_token": f"123456789:AA{RANDOM[:33]}",
    "jwt": f"eyJ{RANDOM[:20]}.eyJ{RANDOM[:40]}.{RANDOM[:43]}",
    "private_key": f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{RANDOM}\n{RANDOM}\n-----END RSA PRIVATE {'KEY'}-----",
}
"""Known by themselves: kind → secret."""

HINTED = {
    "url_password": ("postgres://clerk:{}@db:5432/shop", "hunter2hunter"),
    "authorization": ("Authorization: Bearer {}", "q7Zt0Kx3.q7Zt0Kx3"),
    "password": ("password={}", "correct-horse-9"),
}
"""Known by what is around them: kind → (text, secret)."""
