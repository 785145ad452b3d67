"""What is a secret, what is none, and what becomes of it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.privacy import kinds
from otel_processor.privacy.places import without_entities
from otel_processor.privacy.redactor import Redactor, stand_in
from tests.unit.privacy.secrets import HEX, HINTED, RANDOM, SECRETS

REDACTOR = Redactor()


def cleaned(value: Any) -> tuple[Any, Counter[str]]:
    found = Counter[str]()
    return REDACTOR.value(value, found), found


def text_with(kind: str) -> tuple[str, str]:
    """A text that holds a secret of a kind, and the secret."""
    if kind in SECRETS:
        return SECRETS[kind], SECRETS[kind]
    template, secret = HINTED[kind]
    return template.format(secret), secret


def test_every_kind_has_an_example() -> None:
    assert SECRETS.keys() | HINTED.keys() == kinds.ALL


@pytest.mark.parametrize("kind", sorted(kinds.ALL))
def test_a_secret_of_each_kind_becomes_its_stand_in(kind: str) -> None:
    text, secret = text_with(kind)
    after, found = cleaned(f"use {text} now")
    assert secret not in after
    assert stand_in(kind, secret) in after
    assert after.startswith("use ")
    assert after.endswith(" now")
    assert found == {kind: 1}


@pytest.mark.parametrize("kind", sorted(kinds.ALL))
def test_a_kind_that_is_not_looked_for_stays(kind: str) -> None:
    text, secret = text_with(kind)
    others = Redactor(kinds.ALL - {kind, kinds.PASSWORD, kinds.AUTHORIZATION, "openai_key"})
    assert secret in others.value(f"use {text} now", Counter())
    assert Redactor(frozenset()).is_idle


def escaped(text: str, *, all_of_it: bool) -> str:
    """JSON of a text as .NET writes it, with escapes for quotes and signs, or for all of ASCII."""
    return "".join(
        f"\\u{ord(letter):04x}" if letter < "\x80" and (all_of_it or not letter.isalnum()) else letter for letter in text
    )


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def planted(draw: st.DrawFn) -> tuple[Any, str]:
    """A JSON value with a secret anywhere in it, within texts, JSON in texts, names, lists; and the secret."""
    text, secret = text_with(draw(st.sampled_from(sorted(kinds.ALL))))
    around = st.sampled_from(["", " ", "é", "\n", "日本", '"', "'", "(", ", ", "\t", "🔑", "=", "\\"])
    value: Any = f"{draw(around)}{text}{draw(st.sampled_from(['', ' ', chr(10), '日本', ',', ')', '; ', '🔑']))}"
    for _ in range(draw(st.integers(0, 4))):
        step = draw(
            st.sampled_from(["list", "dict", "json", "ascii json", "name", "prose", "spaced json", "escapes", "signs as escapes"])
        )
        if step == "list":
            value = [*draw(st.lists(JSON_VALUES, max_size=2)), value]
        elif step == "dict":
            value = draw(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=2)) | {"body": value}
        elif step == "name" and isinstance(value, str):
            value = {value: 1}
        elif step == "prose" and isinstance(value, str):
            value = f"the tool said {value} and ended"
        elif "escapes" in step:
            plain = value if isinstance(value, str) else json.dumps(value)
            value = f'"{escaped(plain, all_of_it=step == "escapes")}"'
        else:
            value = json.dumps(value, ensure_ascii=step == "ascii json", indent=1 if step == "spaced json" else None)
    return value, secret


@given(planted())
def test_a_secret_is_found_wherever_it_is(case: tuple[Any, str]) -> None:
    value, secret = case
    written = orjson.dumps(value).decode()
    assert REDACTOR.suspects(written), "the quick look must never miss what the thorough one finds"
    after, found = cleaned(value)
    assert found
    for part in secret.split("\n"):
        if "PRIVATE" not in part:
            assert part not in str(after)
    again, more = cleaned(after)
    assert again == after
    assert not more


@given(JSON_VALUES)
def test_what_holds_no_secret_is_left_as_it_is(value: Any) -> None:
    after, found = cleaned(value)
    assert not found
    assert after == value


INNOCENT = [
    '{"max_tokens": 4096, "token_count": 128, "input_tokens": 7}',
    "gen_ai.usage.input_tokens=12 total_tokens: 4096",
    '{"token": "Hello", "logprob": -0.1}',
    f'{{"next_page_token": "{RANDOM[:32]}", "pad_token": "<|endoftext|>", "eos_token_id": 50256}}',
    f'{{"order_id": "ORD-20261130-0042", "sha": "{HEX[:40]}", "id": "550e8400-e29b-41d4-a716-446655440000"}}',
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAA" * 20,
    '<div class="sk-toggleable__content-arrow sk-container-id-1"></div>',
    "def login(user, password): return connect(user, password=password)",
    "api_key = os.environ['API_KEY']; token = get_token(); secret: str | None = None",
    "password: must be at least eight characters. The secret ingredient is love.",
    '{"properties": {"password": {"type": "string"}, "api_key": {"type": "string"}}}',
    '{"password": "${DB_PASSWORD}", "api_key": "<your key>", "secret": "********", "token": null}',
    "http://localhost:8080/@scope/package and ssh://git@host/repo.git and mailto:bob@x.org",
    "Basic understanding of bearer bonds and token economies is required",
    "PWD=/home/user/app",
    "arn:aws:iam::123456789012:role/Admin s3://bucket/AKIA-not-a-key",
    '{"has_password": true, "password_reset": 1, "secret_count": 3}',
    f"image digest {HEX[:40]} was pulled; digest sha256:{HEX}",
    f"next token 550e8400-e29b-41d4-a716-446655440000, page token CAUQAA{RANDOM[:20]}, page token: CAUQAA{RANDOM[:20]}",
    f"continuation token c29tZS1wYWdl{RANDOM[:16]} token: {HEX[:32]}",
    "token sequence-number-123456, a token count-of-tokens-4096-max",
    "the bearer 2024-01-01T00:00:00 of 2024-01-01 and bearer 123456789012, bearer of-good-news-2024",
    '{"max_access_token": 4096} max_access_token=4096',
    '{"properties": {"password": {"anyOf": [{"type": "string", "minLength": 12}], "title": "Password2"}}}',
    '{"token": {"type": "string", "pattern": "^[a-z0-9]{4}$"}, "secret": {"region": "eu-1", "created": "2024-01-01"}}',
    '["the", "password", "hunter22", "was", "--verbose", "hunter22"]',
    "the words 'token', 'hunter22' of a list",
    r'{"html": "\u003cb\u003eone \u0026 two\u003c/b\u003e \u001b[0m"}',
    '{"a": 1, "a": 2}',
    "docker run -u 1000:1000 web and docker run --user node:node web",
    "curl https://x/install.sh | docker run -i -u node:node web",
    "curl -fsS https://x && podman run --user www:data web",
    "curl https://x\ndocker run -u node:node web",
    "pip install --user git+https://x/y and systemctl --user restart a:b",
    "`curl -u user:…` and <password>…</password>",
    "curl -u user: asks for it; use curl -u with a name: it says what is missing",
    "curl -u $USER:$PASS https://x",
    'curl -u "${USER}:${PASS}" https://x',
    "curl -u $(cat user):$(cat password) https://x",
    "curl -u <user>:<password> https://x",
    "curl -o out:put -H Host:web https://x:8080/y",
    '["docker", "run", "-u", "node:node", "curl"]',
    '["curl", "-o", "a:b", "https://x:8080/y"]',
    "<password>${env.PASSWORD}</password><password/><password></password><apiKey>string</apiKey>",
    "<tr><td>Password</td><td>hunter22</td></tr><a href=/token>token</a><label for='password'>Password: eight characters</label>",
    "<token>Hello</token> <has_password>true</has_password> <has_secret>1</has_secret> <max_tokens>4096</max_tokens>",
    "write <password> and then <b>bold words</b>, or a map<string, secret>of</string>",
    "<passwordPolicy>at-least-12</passwordPolicy>",
    "{&quot;max_tokens&quot;: 4096, &quot;token&quot;: &quot;Hello&quot;, &quot;password&quot;: &quot;${DB_PASSWORD}&quot;}",
    "&quot;password&quot;: {&quot;type&quot;: &quot;string&quot;}, &quot;the secret&quot; is &quot;love&quot;",
    "curl -O x.tar.gz, then docker run -u 1000:1000 img",
    "Use curl to fetch. Then run docker with -u 1000:1000 to set the uid",
    "curl -u %USER%:%PASS% https://x",
    "curl -u `whoami`:`cat pw` https://x",
    '<password>@password@</password><password>#{password}</password> {"password": "%PASSWORD%", "has_password": "yes"}',
    "<showPassword>no</showPassword><requirePassword>yes</requirePassword><hasSecret>maybe</hasSecret>",
    "<forgot-password>Forgot your password?</forgot-password><Password label='x'>Enter your password</Password>",
    "Map<String, Password> x; List<Secret>secrets</Secret>",
    '<string name="password">Password</string><string name="forgot_password">Forgot password?</string>',
    '<string name="enter_password">Enter</string><input type="password">hunter22</input><entry key="password">${DB}</entry>',
    '<input name="password" value=""/><add key="ApiKey" value="${KEY}"/><a name="secret" href="x1">here</a>',
    b"max_tokens: 12 \x00\xff\x89PNG token password",
    'bypass=true compass=north "pass": 12, tests pass: 14, first_pass=1 {"app_pass": "no", "user_pass": "${PASS}"}',
    "https://x/?q=a%20b%2Fc&next=https%3A%2F%2Fy.org%3A8080%2Fz and where a like '%3A%'",
    "SSHPASS=x sshpass -e ssh -p 2222 host; ssh -p 2222 host",
    "mysql -u root -p shop; mkdir -p shop; mysql --port 3306",
    "docker run -p 8080:80 web login; docker build -p x; cd docker && login -p 8080",
    "sshpass -p is insecure, use -e; the -p option of mysql asks",
    'sshpass -p "$PASS" ssh x; mysql -p$PASS; mysql -p"${PASS}"; docker login -p <password>',
    "openssl rsa -passin env:PASS -passout file:x; unzip -p a.zip file",
    "echo done | sudo tee /etc/x; echo $PASS | sudo -S true; echo yes | docker run --password-stdin",
    '["docker", "run", "-p", "8080:80", "web"]',
    '["sshpass", "-e", "ssh", "-p", "2222"]',
    '["mysql", "-u", "root", "-p", "shop"]',
    "find / -name mysql -print; find . -name '*.7z' -print0; kubectl get pods -l app=mongo -p web; cp -r mongo -p backup",
    "docker run -d --name mongo -p 127.0.0.1:27017:27017 mongo; docker run --name mysql -p3306:3306 -d mysql",
    "mysql isn't running.\nTry:\n find . -print\nand don't worry; proxy_pass: http://backend:8080",
    '["find", "/", "-name", "mysql", "-print"]',
    '{"image": "mongo", "args": ["-p", "27017:27017"], "query": "mysql"}',
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_a_secret_stays(text: str | bytes) -> None:
    after, found = cleaned(text)
    assert not found, after
    assert after == text


WORDS = st.text(st.sampled_from("abc -:;=&|<>/\\'\"\n.,0123"), max_size=40)
ORDINARY = st.lists(
    st.sampled_from(["curl", "-u", "--user", "docker", "<b>", "</b>", "<token>", "&quot;", "&lt;", "name", "https://x:80/y"])
    | st.sampled_from(["sshpass", "mysql", "login", "-p", "-pa1", "echo", "sudo -S", "openssl", "-passin", "pass:a1", '","'])
    | WORDS,
    max_size=8,
).map(" ".join)


@given(ORDINARY)
def test_what_the_thorough_look_changes_the_quick_one_suspects_and_again_it_changes_nothing(text: str) -> None:
    after, found = cleaned(text)
    assert bool(found) == (after != text)
    assert not found or REDACTOR.suspects(orjson.dumps(text).decode())
    assert cleaned(after) == (after, Counter())


@given(ORDINARY)
def test_without_a_command_or_a_name_that_says_so_nothing_is_a_secret(text: str) -> None:
    for command in ("curl", "sshpass", "mysql", "docker", "openssl", "echo"):
        text = text.replace(command, "fetch")
    assert cleaned(text) == (text, Counter())
    assert cleaned(text.split(" ")) == (text.split(" "), Counter())


def test_names_tell_secrets_in_every_shape() -> None:
    secret = "Tr0ub4dor&3"
    for value in (
        {"db": {"password": secret}},
        {"headers": [["x-api-key", secret]]},
        {"env": [{"name": "DB_PASSWORD", "value": secret}]},
        {"http.request.header.authorization": [secret]},
        f"PGPASSWORD={secret} psql",
        f"curl --password {secret} https://x",
        "{'clientSecret': '" + secret + "'}",
        f'config: {{"apiKey": "{secret}"',
        json.dumps(json.dumps({"a": json.dumps({"password": 'quo"ted' + secret})})),
        {"pin": 1, "password": 12345678},
        {"command": ["mysql", "--password", secret, "-v"]},
        ["psql", "-x", "--db-password", secret],
        json.dumps({"command": ["mysql", "--password", secret]}, indent=2) + " and more",
        f"ran ['mysql', '--password', '{secret}'] and failed",
        {"db_password": {"value": secret}},
        {"password": {"current": secret, "type": "plain", "id": "a1"}},
        [{"key": "password", "value": {"stringValue": secret}}],
        [{"value": secret, "name": "DB_PASSWORD"}],
        {"password2": secret},
        {"password_confirmation": secret},
        f"password_confirmation={secret}",
        f'{{"password": "{secret}", "password": "***"}}',
        f'{{"a": {{"x": 1, "x": {{"password": "{secret}"}}, "x": 2}}}}',
        f"password=\\u0022{secret}\\u0022 as .NET says",
        f'{{"p\\u0061ssword":"{secret}"}}',
        f'{{"body":"{{\\u0022password\\u0022:\\u0022{secret}\\u0022}}"}}',
        f"<password>{secret}</password>",
        f"<a><wsse:Password Type='text'>\n  {secret}\n</wsse:Password><n>1</n></a>",
        f"<clientSecret><![CDATA[{secret}]]></clientSecret>",
        f"&lt;apiKey&gt;{secret}&lt;/apiKey&gt;",
        f"\\u003cpassword\\u003e{secret}\\u003c/password\\u003e",
        f'"<password>{secret}<\\/password>" as PHP says',
        f"{{&quot;user&quot;: &quot;bob&quot;, &quot;password&quot;: &quot;{secret}&quot;, &quot;n&quot;: 1}}",
        f"&amp;quot;api_key&amp;quot;:&amp;quot;{secret}&amp;quot;",
        f"&#34;password&#34;: &#x22;{secret}&#x22; and &#39;",
        f"[&quot;--password&quot;, &quot;{secret}&quot;]",
        f"password=&quot;{secret}&quot;",
        f"<password\n  type='text'>{secret}</password>",
        f"<password\ttype='text'>{secret}</password>",
        f"<password><![CDATA[{secret}<>]]></password>",
        f'<entry key="db.password">{secret}</entry>',
        '<entry key="password">swordfish with blanks ' + secret + "</entry>",
        f'<property name="password">\n  {secret}\n</property>',
        f'<property name="password" value="{secret}"/>',
        f"<add key='ApiKey' value='{secret}'/>",
        f"<add key=&quot;ApiKey&quot;\n value=&quot;{secret}&quot;/>",
        f'<string name="api_key">{secret}</string>',
        f'&lt;string name="api_key"&gt;{secret}&lt;/string&gt;',
        f'{{"xml": "<entry key=\\"password\\">{secret}</entry>" and broken',
        f"DB_PASS={secret}",
        f'export MYSQL_PASS="{secret}"',
        {"smtp_pass": secret},
        f"ansible_ssh_pass={secret}",
        ["--db-pass", secret],
    ):
        after, found = cleaned(value)
        assert REDACTOR.suspects(orjson.dumps(value).decode()), value
        assert found == {"password": 1}, value
        assert secret not in str(after)
        assert "12345678" not in str(after)


COMMANDS = [
    "curl -u bob:{} https://x",
    "curl -ubob:{} https://x",
    "curl --user bob:{} https://x",
    "curl --user=bob:{} https://x",
    "curl -sSu 'bob:{}' https://x",
    "curl -u bob:'{}' https://x",
    "curl -U bob:{} -x proxy https://x",
    "curl -x proxy --proxy-user bob:{} https://x",
    'curl -H "Accept: a; q=1" -u "bob:{}" https://x',
    "curl -H 'Accept: a; q=1' \\\n  -u bob:{} \\\n  https://x",
    "curl 'https://x?a=1&b=2;c' -u bob:{}",
    "curl -d '{{\n\"a\": 1}}' -u bob:{} https://x",
    'bash -c "curl -u bob:{} https://x | docker run -u node:node web"',
    "ran ['curl', '-s', '-u', 'bob:{}'] and failed",
    '{{"cmd": "curl -u \\"bob:{}\\" https://x" and broken',
    "curl -H &quot;A: b; q=1&quot; -u &quot;bob:{}&quot; https://x",
    "curl -u AKIA" + "Q7ZT0KX3" * 2 + ":{} https://x",
    "/usr/bin/curl --user bob:{}; docker run -u node:node web",
    'curl -u "bob":"{}" https://x',
    "curl -u 'bob':'{}' https://x",
    'curl -u "bob":{} https://x',
    "curl -u 'bob:{}': no answer",
    "CURL -u bob:{} https://x",
    "Curl -u bob:{} https://x",
    "sshpass -p {} ssh -p 2222 x",
    "sshpass -v -p'{}' scp a x:b",
    "cd x && mysql -uroot -p{} shop < dump.sql; docker run -u node:node web",
    'bash -c "mysqldump -h db -p{} shop"',
    "curl --cert c.pem --pass {} https://x",
    "redis-cli -h x -a {} ping",
    "docker login -u bob -p {} ghcr.io",
    "helm registry login -u bob -p={} ghcr.io",
    "az login --service-principal -u x -p '{}' --tenant y",
    "mongosh -u bob -p {} shop",
    "ldapsearch -D cn=bob -w {} -b dc=x",
    "sqlcmd -S x -U sa -P {} -Q 'select 1'",
    "openssl rsa -in key.pem -passin pass:{} -out y",
    "7z x -p{} a.7z",
    "docker exec -it mysql mysqldump -u root -p{} shop",
    "kubectl exec db -- /usr/bin/mysql -uroot -p{}",
    "sudo mysql -uroot -p{}",
    "LANG=C mysql -uroot -p{}",
    "$ mysql -uroot -p{}",
    "zip -rP {} a.zip b",
    "echo {} | sudo -u postgres -S psql",
    "printf '%s\\n' {} | sudo --stdin ls",
    "echo {} | sudo -S apt-get install x",
    "echo '{}' | sudo -kS true",
    "echo -n {} | docker login -u bob --password-stdin",
    "ran ['sshpass', '-p', '{}', 'ssh'] and failed",
    '{{"cmd": "sshpass -p \\"{}\\" ssh" and broken',
]


@pytest.mark.parametrize("shape", COMMANDS)
@pytest.mark.parametrize("secret", ["S3cret!x", "swordfish", "p@ss:w0rd"])
def test_passwords_that_a_command_is_given_are_found(shape: str, secret: str) -> None:
    text = shape.format(secret)
    for value in (text, {"command": text}, json.dumps({"command": ["sh", "-c", text]}), text.encode()):
        after, found = cleaned(value)
        assert found["password"] == 1, value
        assert secret not in str(after)
        assert stand_in("password", secret) in str(after)
        assert "node:node" in str(after) or "node:node" not in text
        written = text if isinstance(value, bytes) else orjson.dumps(value).decode()
        assert REDACTOR.suspects(written)
        assert cleaned(after) == (after, Counter())


@pytest.mark.parametrize(
    "arguments",
    [
        ["curl", "-u", "bob:S3cret!x", "https://x"],
        ["sudo", "/usr/bin/curl", "-sS", "-ubob:S3cret!x", 1],
        ["curl", "-sSu", "bob:S3cret!x"],
        ["curl.exe", "--user=bob:S3cret!x"],
        ["curl", "--proxy-user", "bob:S3cret!x"],
        ["sshpass", "-p", "S3cret!x", "ssh", "-p", "2222"],
        ["/usr/bin/mysql", "-u", "root", "-pS3cret!x", "shop"],
        ["docker", "login", "-p", "S3cret!x"],
        ["docker", "login", "-p=S3cret!x", 1, "-p", 2],
        ["openssl", "rsa", "-passin", "pass:S3cret!x"],
        ["curl", "--pass", "S3cret!x", "https://x"],
    ],
)
def test_passwords_in_a_list_of_arguments_are_found(arguments: list[Any]) -> None:
    after, found = cleaned({"args": arguments})
    assert found == {"password": 1}
    assert after["args"] == json.loads(json.dumps(arguments).replace("S3cret!x", stand_in("password", "S3cret!x")))
    assert REDACTOR.suspects(orjson.dumps(arguments).decode())


@pytest.mark.parametrize("command", ["curl", "/usr/bin/curl", "curl.exe", "CURL"])
@pytest.mark.parametrize("name", ["command", "args_of"])
def test_passwords_are_found_in_arguments_beside_the_command(command: str, name: str) -> None:
    for value in ({name: command, "args": ["-u", "bob:S3cret!x"]}, {"args": ["-s", "--user=bob:S3cret!x"], name: command}):
        after, found = cleaned({"servers": [value]})
        assert found == {"password": 1}
        assert "S3cret!x" not in str(after)
        assert REDACTOR.suspects(orjson.dumps(value).decode())
    assert not cleaned({name: "docker", "args": ["run", "-u", "bob:S3cret!x"]})[1]


@pytest.mark.parametrize("command", ["sshpass", "/usr/bin/sshpass"])
def test_a_password_is_found_in_arguments_beside_a_command_that_runs_another(command: str) -> None:
    after, found = cleaned({"args": ["-p", "S3cret!x", "ssh", "-p", "2222"], "command": command})
    assert found == {"password": 1}
    assert after["args"] == ["-p", stand_in("password", "S3cret!x"), "ssh", "-p", "2222"]
    assert REDACTOR.suspects(orjson.dumps({"args": ["-p", "S3cret!x"], "command": command}).decode())


def test_a_dollar_begins_a_password_where_single_quotes_leave_it() -> None:
    assert cleaned("curl -u bob:'$ecret99Pw' x")[1] == {"password": 1}
    assert not cleaned("curl -u bob:'$SECRET_99' x; curl -u bob:$ecret99Pw x")[1]


def test_a_secret_has_one_stand_in_whatever_escapes_it() -> None:
    for text in ("password='a&b<9'", "<password>a&amp;b&lt;9</password>", "&quot;password&quot;:&quot;a&amp;b&lt;9&quot;"):
        assert stand_in("password", "a&b<9") in cleaned(text)[0], text


def test_bytes_that_hold_a_secret_become_a_text_and_others_stay() -> None:
    key = SECRETS["github_token"]
    after, found = cleaned({"a": f"é {key}".encode(), "b": b"\xff\x00 plain", "password": b"swordfish"})
    assert found == {"github_token": 1, "password": 1}
    assert after["a"] == f"é {stand_in('github_token', key)}"
    assert after["b"] == b"\xff\x00 plain"
    assert after["password"] == stand_in("password", "swordfish")


@pytest.mark.parametrize(
    "text",
    [
        '{"v":"\\u0073k-ant-%s"}',
        '{"x":"postgres:\\u002f\\u002fclerk:%s@h/db"}',
        "Bearer q7Zt0Kx3q7Zt\\u002B%s",
        "Bearer %s",
        "Authorization: token %s",
        "headers: {'Authorization': 'Digest %s'}",
        '{"command": ["gh", "auth", "--token", "%s", "x"]}',
    ],
)
def test_what_stands_around_a_random_secret_is_seen_however_it_is_written(text: str) -> None:
    after, found = cleaned(text % RANDOM[:24])
    assert found
    assert RANDOM[:8] not in after
    assert REDACTOR.suspects(orjson.dumps(text % RANDOM[:24]).decode())


def test_all_values_of_a_name_that_stands_twice_are_kept_beside_a_secret() -> None:
    after, _ = cleaned('{"n": 1, "n": 2, "password": "hunter22"}')
    assert json.loads(after)["n"] == [1, 2]


def test_the_same_secret_has_the_same_stand_in_and_a_guessable_one_tells_little() -> None:
    one, other = (cleaned(f"password={word}")[0] for word in ("swordfish1", "swordfish2"))
    assert one != other
    assert one == cleaned("password=swordfish1")[0]
    assert len(one.rpartition(":")[2]) == len("abc]"), "twelve bits of a hash single out no word of a list"


def test_numbers_of_any_length_survive_beside_a_secret() -> None:
    text = f'{{"n": 123456789012345678901234567890, "f": 1.0, "key": "{SECRETS["openai_key"]}"}}'
    assert '"n":123456789012345678901234567890' in cleaned(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        'password="' * 2_000,
        "[" * 50_000,
        f"{SECRETS['private_key'][:31]}" * 500,
        "a://" * 9_000,
        "curl -u 'a:" * 9_000,
        'curl \'" -u \\"a:' * 5_000,
        "<password " * 9_000 + ">",
        "<password>x" * 9_000,
        "&quot;password&quot;:&quot;" * 3_000,
        "sshpass -p " * 5_000,
        "mysql -p'" * 6_000,
        "echo a | sudo " * 4_000,
        "docker login " * 4_000 + "-p x",
        "sshpass " + "-p " * 20_000,
        "mysql " + "\\" * 60_000,
        'mysql \\"\\a;' * 5_000,
    ],
)
def test_texts_made_to_be_slow_or_deep_are_answered(text: str) -> None:
    after, _ = cleaned(text)
    assert isinstance(after, str)


@pytest.mark.parametrize(
    ("begin", "again", "end"),
    [
        ("curl -u a:secretpw1 ", ",-ua", ""),
        ("curl -u a:secretpw1 ", ",-ua", " -u a:b"),
        ("curl -u a:secretpw1 ", ",-ua:$X", ""),
        ("curl -u a:secretpw1 ", ",-ua:secretpw1", ""),
        ("", "pwd=", ""),
        ("", "token=0a1b2c3d:", ""),
        ("", "password=", ""),
        ("", "password=a", "("),
        ("", "password=your_", ""),
        ("", "-eyJaaaaaaaa-AKIA" + "Q7ZT0KX3" * 2, ""),
        ("", "-SG." + "a" * 16 + "-AKIA" + "Q7ZT0KX3" * 2, ""),
        ("", "<password><![CDATA[<password>x</password>", ""),
        ("", "<a name='password'><a name='password'>x</b>", ""),
        ("", '<add key="pwd" value=', ""),
        ("", f"-----BEGIN PRIVATE {'KEY'}-----a-----END PRIVATE {'KEY'}-----", ""),
    ],
)
def test_time_grows_with_the_text_and_no_faster(begin: str, again: str, end: str) -> None:
    # One of these would take minutes where each name or option had the rest of the text read.
    times = 500_000 // len(again)
    after, _ = cleaned(f"{begin}{again * times}{end}")
    assert "secretpw1" not in after


def test_escaped_markup_is_unescaped_a_few_times_however_deep_it_says_that_it_is() -> None:
    assert without_entities("&" + "amp;" * 20 + "lt;", 20) == "&" + "amp;" * 12 + "lt;"
    deep = "&" + "amp;" * 100_000
    after, _ = cleaned(f"password={deep}quot;{deep}")
    assert after.endswith("]")


@pytest.mark.parametrize("text", ["password={}", "curl -u bob:{} https://x", 'password="{}"', "<password>{}</password>"])
def test_a_secret_longer_than_what_is_looked_at_is_taken_out_whole(text: str) -> None:
    after, found = cleaned(text.format("a1b2" * 2_000))
    assert found == {"password": 1}
    assert after == text.format(stand_in("password", "a1b2" * 2_000))


def test_names_and_options_inside_a_secret_are_part_of_it() -> None:
    assert cleaned("password=a1b2:token=c3d4 x")[0] == f"password={stand_in('password', 'a1b2:token=c3d4')} x"
    assert cleaned("curl -u a:b1,-uc:d2 x")[0] == f"curl -u a:{stand_in('password', 'b1,-uc:d2')} x"
    assert cleaned("curl -u a:b1,-u c:d2 x")[1] == {"password": 2}


def test_own_patterns_are_looked_for_in_every_text() -> None:
    own = Redactor(frozenset(), (("customer", "^C-[0-9]{4}$"),))
    found = Counter[str]()
    after = own.value({"a": ["C-1234", "about C-1234"], "n": 1}, found)
    assert after == {"a": [stand_in("customer", "C-1234"), "about C-1234"], "n": 1}
    assert found == {"customer": 1}


@pytest.mark.parametrize("text", ["https%3A%2F%2Fbob%3A{}%40x.org%2F", "next=postgres%3A%2F%2Fbob%3A{}%40x%2Fy"])
def test_a_secret_in_an_address_within_an_address_is_found(text: str) -> None:
    after, found = cleaned(text.format("S3cretpw"))
    assert found == {"url_password": 1}
    assert "S3cretpw" not in after
    assert REDACTOR.suspects(text.format("S3cretpw"))


def test_a_password_in_an_address_within_an_address_is_found() -> None:
    after, found = cleaned("next=x%3Fpassword%3Dswordfish99%26x%3D1")
    assert found == {"password": 1}
    assert "swordfish99" not in after


def test_an_address_keeps_its_escapes_where_they_hide_nothing() -> None:
    after, _ = cleaned("curl -u bob:S3cretpw 'https://x?q=a%20b%3Dc'")
    assert after.endswith("'https://x?q=a%20b%3Dc'")
