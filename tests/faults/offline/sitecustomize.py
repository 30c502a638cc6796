"""For processes whose PYTHONPATH leads here: every connection beyond this machine is refused, and written down.

Python imports it before anything else, in workers too, however they start. Whatever a library makes of the
refusal, the file that ASKED names tells.
"""

import os
import socket
from pathlib import Path
from typing import NoReturn

HERE = {"localhost", "127.0.0.1", "::1", None, ""}


def _refused(where: object) -> NoReturn:
    with Path(os.environ["ASKED"]).open("a") as file:
        file.write(f"{where!r}\n")
    raise OSError(f"refused: {where!r}")


def _apart(own: socket.socket, address: object) -> bool:
    return own.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in HERE


def _connect(own: socket.socket, address: object) -> None:
    return _refused(address) if _apart(own, address) else CONNECT(own, address)


def _getaddrinfo(host: object, *words: object, **named: object) -> list:
    return GETADDRINFO(host, *words, **named) if host in HERE else _refused(host)


CONNECT, GETADDRINFO = socket.socket.connect, socket.getaddrinfo
socket.socket.connect, socket.getaddrinfo = _connect, _getaddrinfo
