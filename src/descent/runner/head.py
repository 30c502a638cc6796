"""Whether the head of a Ray cluster still answers.

Ray waits a minute for a head that was lost, and then ends the whole process itself, in its own words and with
nothing that says what to do. So we ask by ourselves, and are through before that.
"""

import socket
import time

from descent.errors import UserError

OFTEN = 5.0  # seconds between two questions
PATIENCE = 20.0  # seconds without an answer after which it is lost; Ray's own are 60
ANSWER = 2.0  # seconds for one


class Head:
    """The head at an address; made when it was just heard of."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._host, _, self._port = address.rpartition(":")
        self._heard = self._asked = time.monotonic()

    def ask(self) -> bool:
        """Ask, if that is due; whether it has answered just now.

        Raises:
            UserError: it has not answered for PATIENCE seconds.
        """
        if time.monotonic() - self._asked < OFTEN:
            return False
        self._asked = time.monotonic()
        try:
            socket.create_connection((self._host, int(self._port)), timeout=ANSWER).close()
            self._heard = time.monotonic()
            return True
        except OSError:
            if time.monotonic() - self._heard > PATIENCE:
                raise UserError(
                    f"the head of the Ray cluster at {self.address} was lost: what was finished is kept; start it "
                    "anew (`ray start --head`, then the other hosts) and run the same command again"
                ) from None
            return False
