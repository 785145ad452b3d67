"""What a tool does to the world, told from its action or its name when nothing better tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from otel_processor.detection.shell import effect_of_command
from otel_processor.model import Effect

_POLL = frozenset("wait poll status sleep watch tail monitor await progress ready health ping estado esperar".split())
_READ = frozenset(
    "get list search find read fetch view query lookup look show browse describe count inspect cat grep ls select retrieve "
    "load scan download calculate compute analyze analyse summarize think plan open page goto visit weather retrieval rag "
    "buscar leer obtener consultar listar ver mostrar contar calcular analizar descargar abrir resumir explorar "
    "chercher lire obtenir lister afficher suchen lesen holen anzeigen procurar ler obter mostrar".split()
)
_WRITE = frozenset(
    "write create update delete edit insert send post put patch append remove move rename apply commit push book cancel submit "
    "save upload set add replace modify transfer pay refund order exchange return reply publish deploy merge install patch "
    "escribir crear editar guardar borrar eliminar enviar actualizar insertar reservar cancelar pagar "
    "écrire créer modifier supprimer envoyer schreiben erstellen löschen senden escrever criar apagar".split()
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+")

_ACTION_KEYS = ("command", "action", "operation", "method", "cmd")
"""Arguments by which one tool is several: an editor's `view` reads, its `create` writes; a shell does whatever it is told."""

_MOVES = re.compile(
    r"(?:page|next|prev|previous)[_-]?(?:down|up|page)|scroll|swipe|hover|(?<![a-z])press(?![a-z])|key_?press|press_?key"
)
"""The keys and the wheel of a user interface: made to be called again and again."""


def moves_a_view(tool: str, arguments: Any) -> bool:
    """Return whether a call turns a page, scrolls or presses a key: what it shows tells whether it did anything."""
    action = arguments.get("action") if type(arguments) is dict else None
    return _MOVES.search((action if type(action) is str else tool)[:200].lower()) is not None


def effect_of(tool: str, declared: Mapping[str, str] | None = None, arguments: Any = None) -> Effect:
    """Return what calling `tool` does: what the policy declares, else what its action or its name says.

    An argument such as `command` or `action` that is a single word (`view`, `str_replace`) tells more than the tool's name,
    where it tells anything. The name's first telling word decides (`get_order_status` polls, since it both reads and asks
    for a status; `search_and_replace` writes, since a tool that may write must be treated as one that does).
    """
    if declared and tool in declared:
        return Effect(declared[tool])
    if type(arguments) is dict:
        for key in _ACTION_KEYS:
            action = arguments.get(key)
            if type(action) is str:
                effect = _by_name(action) if action.isidentifier() else effect_of_command(action)
                if effect is not Effect.UNKNOWN:
                    return effect
    return _by_name(tool[:200])


@lru_cache(maxsize=4_096)
def _by_name(tool: str) -> Effect:
    if _MOVES.search(tool.lower()):
        return Effect.POLL
    words = [word.lower() for word in _WORD.findall(tool)]
    if not words:
        return Effect.UNKNOWN
    first = next((word for word in words if word in _READ or word in _WRITE or word in _POLL), None)
    if first is None:
        return Effect.READ if _READS_WITHIN.search(tool.lower()) else Effect.UNKNOWN
    if first in _THINGS and words[-1] in _POLL:
        return Effect.POLL
    # In a name that begins with a reading verb, later nouns that look like verbs do not write (`get_order`, `list_books`).
    if first in _WRITE or any(word in _WRITE and word not in _NOUNS for word in words if first in _READ):
        return Effect.WRITE
    return Effect.POLL if any(word in _POLL for word in words) else Effect.READ


def keeps_notes(tool: str, arguments: Any) -> bool:
    """Return whether a call writes down what the agent means to do, or that it is alive: that changes nothing out there.

    A plan that has an id, a note that has a path or a price is somebody else's.
    """
    if not _is_notebook(tool[:200]):
        return False
    return type(arguments) is not dict or not any(_THINGS_NAMED.search(str(key)) for key in arguments)


@lru_cache(maxsize=4_096)
def _is_notebook(tool: str) -> bool:
    words = [word.lower() for word in _WORD.findall(tool)]
    noted = [word for word in words if word in _NOTES]
    return bool(noted) and all(word in _NOTES or word in _WRITE or word in _READ for word in words)


_THINGS_NAMED = re.compile(
    r"(?:^|_)(?:id|path|file|filename|addr|address|price|customer|user|email|url)$|[a-z](?:Id|Path)$", re.IGNORECASE
)

_NOTES = frozenset(
    "todo todos plan plans note notes scratchpad journal memo memory heartbeat think thought thoughts thinking "
    "nota notas notiz notizen".split()
)

_READS_WITHIN = re.compile(
    "search|suche|recherche|fetch|lookup|查询|查詢|搜索|搜尋|检索|检查|读取|讀取|获取|検索|取得|確認|一覧|조회|검색|확인"
)
"""Verbs that look, within words that are written together."""

_THINGS = frozenset("order exchange refund transfer return post reply".split())
"""Nouns whose status is asked for: `order_status`."""

_NOUNS = frozenset("order set post book return refund exchange commit push reply patch transfer move add".split())
