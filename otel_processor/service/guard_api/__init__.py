"""The guard for agents in any language, over HTTP."""
