"""A server by TLS under a name that only a proxy knows, and a proxy that leads to it."""

import base64
import datetime as dt
import select
import socket
import ssl
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.unit.fault_server import fault_server
from tests.unit.running_server import running

HOST = "files.example"


def certificate(folder):
    """Paths of a certificate for `HOST`, which vouches for itself, and of its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    begin = dt.datetime.now(dt.UTC) - dt.timedelta(days=1)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + dt.timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(built.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder / "cert.pem", folder / "key.pem"


@contextmanager
def secure_server(content, folder):
    """As `fault_server`, by TLS; what asks must trust `folder / "cert.pem"`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(folder))
    with fault_server(content) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server


class Proxy(ThreadingHTTPServer):
    """Leads every CONNECT to one port of this machine, and anything else nowhere."""

    daemon_threads = True

    def __init__(self, port, user=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port, self.user = port, user
        self.asked = []
        """Each request's method and what it was for."""

    def handle_error(self, request, client_address):
        """A connection that the other side cut is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: Proxy

    def do_CONNECT(self):
        self.server.asked.append(("CONNECT", self.path))
        told = self.headers.get("Proxy-Authorization", "")
        if self.server.user and told != basic(self.server.user):
            self.send_error(407)
            return
        self.send_response(200)
        self.end_headers()
        with socket.create_connection(("127.0.0.1", self.server.port)) as onward:
            passed_between(self.connection, onward)

    def do_GET(self):
        self.server.asked.append(("GET", self.path))
        self.send_error(502)

    def log_message(self, *_):
        """Says nothing."""


def basic(user):
    return "Basic " + base64.b64encode(user.encode()).decode()


def passed_between(one, other):
    to = {one: other, other: one}
    while True:
        for ready in select.select([one, other], [], [])[0]:
            block = ready.recv(1 << 16)
            if not block:
                return
            to[ready].sendall(block)


def proxy(port, user=None):
    return running(Proxy(port, user))
