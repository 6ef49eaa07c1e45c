"""
Make hostile text harmless: what a model wrote may try to speak to the terminal, the browser or the CI that shows it.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["annotation", "annotation_property", "block", "markdown", "markdown_code", "plain", "xml"]

# Whole control sequences (colours, cursor, titles, clipboard), so that their letters do not stay behind.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_BLANKS = re.compile(r"\s+")
_PLAIN_ASCII = re.compile(r"[ -~]*")
# Joiners that scripts and emoji need; all other format characters hide or reorder text.
_KEPT_FORMATS = "\u200c\u200d"
_ZERO_WIDTH = "\u200b"


def plain(text: str, limit: int | None = None) -> str:
    """
    Return *text* on one line without control sequences, control characters and invisible or reordering ones.

    Args:
        text: Anything.
        limit: Cut to this many characters, the last one an ellipsis; None for all.
    """
    if limit is not None and len(text) > 4 * limit:
        text = text[: 4 * limit]
    if _PLAIN_ASCII.fullmatch(text) is None:
        text = _SEQUENCE.sub("", text)
        text = "".join([_shown(char) for char in text])
    # GitHub's runner obeys `##[...]` anywhere in a line.
    text = _BLANKS.sub(" ", text).strip().replace("##[", "# #[")
    return text if limit is None or len(text) <= limit else text[: limit - 1].rstrip() + "\u2026"


def block(text: str, limit: int) -> str:
    """
    Return *text* as `plain` does, but with its own line breaks, cut to *limit* characters.
    """
    cut = text[: limit + 1]
    lines = "\n".join([plain(line) for line in cut.splitlines()])
    return lines if len(text) <= limit else f"{lines[:limit].rstrip()}\u2026"


def _shown(char: str) -> str:
    if char in "\t\n\v\f\r\x85\u2028\u2029":
        return " "
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    if category == "Cc" or (category == "Cf" and char not in _KEPT_FORMATS) or 0xE0000 <= ord(char) <= 0xE0FFF:
        return ""
    return char


_MARKUP = re.compile(r"([\\`*_\[\]<>|~&$])")
_MENTION = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bGH-)(?=\d)", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=mailto:)|(?<=xmpp:)", re.IGNORECASE)
_LINE_START = re.compile(r"^(\d*)([-#+=.)])")


def markdown(text: str, limit: int | None = None) -> str:
    """
    Return *text* as GitHub Markdown that reads like it: no link, image, mention, HTML, table break or maths.

    Mentions and addresses are broken by a zero-width space, for GitHub finds them in the rendered text.
    """
    one_line = plain(text, limit)
    broken = _ADDRESS.sub(_ZERO_WIDTH, _MENTION.sub(_ZERO_WIDTH, one_line))
    escaped = _MARKUP.sub(r"\\\1", broken)
    return _LINE_START.sub(r"\1\\\2", escaped)


def markdown_code(text: str, limit: int | None = None) -> str:
    """
    Return *text* as a Markdown code span.

    Backquotes become apostrophes and bars broken bars, for a table reads bars before it reads code.
    """
    return f"`{plain(text, limit).replace('`', chr(39)).replace('|', chr(0xA6)) or ' '}`"


_XML_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml(text: str) -> str:
    """
    Return *text* without the characters that XML 1.0 forbids; escaping is the writer's work.
    """
    return _XML_FORBIDDEN.sub("", _SEQUENCE.sub("", text))


def annotation(text: str) -> str:
    """
    Return *text* as the message of a GitHub workflow command, which cannot end the command or begin another.
    """
    escaped = plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped.replace("::", f":{_ZERO_WIDTH}:")


def annotation_property(text: str) -> str:
    """
    Return *text* as a property of a GitHub workflow command.
    """
    escaped = plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped.replace(":", "%3A").replace(",", "%2C")
