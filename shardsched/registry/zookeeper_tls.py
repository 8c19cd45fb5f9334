"""How connections to ZooKeeper are encrypted."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from shardsched.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Files and rules of a TLS connection to the servers' secure port."""

    ca: str | None = None
    """Path of a PEM file with the authorities that are trusted; None: the system's."""
    certificate: str | None = None
    """Path of our own certificate (PEM), where the servers ask for one."""
    key: str | None = None
    """Path of its key."""
    key_password: str | None = field(default=None, repr=False)
    """Password of the key; never printed."""
    verify: bool = True
    """Whether the servers' certificates are verified."""
    check_hostname: bool = True
    """Whether the name in a server's certificate must be the host that was asked for."""

    def __post_init__(self) -> None:
        """Refuse what cannot work, since kazoo would only retry for ever.

        Raises:
            SettingsError: A file is missing, or the rules contradict each other.
        """
        for what, name in (("ca", self.ca), ("certificate", self.certificate), ("key", self.key)):
            if name is not None and not Path(name).is_file():
                raise SettingsError(f"the TLS file {what}={name} does not exist; give the path of a PEM file")
        if (self.certificate is None) != (self.key is None):
            raise SettingsError("a TLS certificate and its key belong together; give both or neither")

    def context(self) -> ssl.SSLContext:
        """Return what Python wraps sockets with.

        Raises:
            SettingsError: A file cannot be used.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = self.check_hostname and self.verify
        context.verify_mode = ssl.CERT_REQUIRED if self.verify else ssl.CERT_NONE
        try:
            if self.ca is None:
                context.load_default_certs(ssl.Purpose.SERVER_AUTH)
            else:
                context.load_verify_locations(self.ca)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, self.key_password or "")
        except OSError as error:  # SSLError is one
            raise SettingsError(
                f"the TLS files cannot be used ({error}); give PEM files and the key's password"
            ) from None
        return context
