"""What a gated build needs: its page, to agree to the terms on, and a token of the hub."""

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop.errors import Reason
from desktop.records.hub_token import TokenSource, TokenState
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import (
    Banner,
    Body,
    Card,
    Heading,
    Kind,
    Muted,
    PrimaryButton,
    QuietButton,
    SearchField,
    column,
    fill_page,
    row,
)
from desktop.ui.design import Space
from desktop.ui.hub_words import HubName


class TokenPanel(QWidget):
    """Takes a token; what was wanted with it goes on then."""

    back_asked = Signal()
    keep_asked = Signal(str)
    """The token."""
    without_asked = Signal()
    """Go on without one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._hub = HubName()
        self.back = QuietButton(self.tr("Back"))
        self.back.setToolTip(self.tr("Alt+Left"))
        self.title = Heading()
        self.title.wrap()
        self.about = Body()
        self.banner = Banner()
        self.terms = Card(self.tr("Agree to the terms"))
        self.page = _Address(self.tr("Open the page"))
        self.make = Card(self.tr("Make a token"))
        self.tokens = _Address(self.tr("Open the page of tokens"))
        self.give = Card(self.tr("Give it to Gram"))
        self.token = SearchField(self.tr("Token, hf_…"))
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.keep = PrimaryButton(self.tr("Keep the token"))
        self.without = QuietButton(self.tr("Go on without a token"))
        self.kept_for = Muted()
        self._connect()
        self._lay_out()

    def use_hub(self, hub: HubName) -> None:
        """Name the hub that is asked."""
        self._hub = hub
        words = self.tr(
            "It is kept in this system's keychain and sent to {host} only. It is neither shown nor "
            "written anywhere else."
        )
        self.kept_for.setText(words.format(host=hub.host))
        self.tokens.show_address(hub.tokens_page)

    def begin(self, repository: str, *, gated: bool, then_fetched: bool) -> None:
        """Ask for a token.

        Args:
            repository: what it is for, `owner/repo`; empty: none in particular.
            gated: its files are given only to who agreed to its terms.
            then_fetched: something goes on when there is one.
        """
        self.banner.hide()
        self.forget()
        self.show_busy(busy=False)
        name = self._hub.name
        self.title.setText(self._title(repository, gated=gated))
        self.about.setText(self._about(gated=gated).format(hub=name))
        self.terms.setVisible(gated and bool(repository))
        self.page.show_address(self._hub.page(repository))
        self.keep.setText(
            self.tr("Keep the token and go on") if then_fetched else self.tr("Keep the token")
        )
        self.without.setVisible(then_fetched)
        self.token.setFocus()

    def show_state(self, state: TokenState) -> None:
        """What is sent already, or why nothing can be."""
        if state.source is TokenSource.ENVIRONMENT:
            words = self.tr(
                "The token of the environment variable HF_TOKEN is sent to {host}. One that is "
                "kept here is sent only where that is not set."
            )
            self.banner.say(Kind.INFO, words.format(host=state.host))
        elif state.source is TokenSource.KEYCHAIN:
            words = self.tr("A token is kept for {host} already. Another one takes its place.")
            self.banner.say(Kind.INFO, words.format(host=state.host))
        elif state.reason is not None:
            self._say(Kind.WARN, state.reason)

    def show_failure(self, reason: Reason) -> None:
        """It was not kept; it stays in its field, so that it can be tried again."""
        self.show_busy(busy=False)
        self._say(Kind.ERROR, reason)

    def show_busy(self, *, busy: bool) -> None:
        """The keychain and the hub are asked."""
        for part in (self.token, self.keep, self.without):
            part.setEnabled(not busy)

    def forget(self) -> None:
        """Nothing of the token stays in the window, in what can be undone neither."""
        self.token.setText("")

    def _title(self, repository: str, *, gated: bool) -> str:
        if not repository:
            return self.tr("A token for {hub}").format(hub=self._hub.name)
        shown = fmt.breakable(repository)
        words = self.tr("{name} is gated") if gated else self.tr("{name} needs a token")
        return words.format(name=shown)

    def _about(self, *, gated: bool) -> str:
        if gated:
            return self.tr(
                "Its maker gives its files only to those who have agreed to the terms. That is "
                "done once, with an account of {hub}; a token then tells Gram's downloads that it "
                "is you."
            )
        return self.tr(
            "A token tells {hub} that it is you who asks: for gated and private repositories."
        )

    def _say(self, kind: Kind, reason: Reason) -> None:
        self.banner.say(kind, messages.sentence(reason), messages.advice(reason))

    def _keep(self) -> None:
        told = self.token.text().strip()
        if told:
            self.banner.hide()
            self.show_busy(busy=True)
            self.keep_asked.emit(told)
        else:
            self.token.setFocus()

    def _connect(self) -> None:
        self.back.clicked.connect(self.back_asked)
        shortcut = QShortcut(QKeySequence("Alt+Left"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.back_asked)
        self.token.returnPressed.connect(self._keep)
        self.keep.clicked.connect(self._keep)
        self.without.clicked.connect(self.without_asked)

    def _lay_out(self) -> None:
        head = row(self.back, self.title)
        head.setStretch(1, 1)
        head.setAlignment(self.back, Qt.AlignmentFlag.AlignTop)
        self.terms.body.addWidget(
            Body(self.tr("Sign in on this page, read them, and agree if you want to."))
        )
        self.terms.body.addWidget(self.page)
        self.make.body.addWidget(
            Body(self.tr("One for reading is enough (Create new token, Read). Copy it."))
        )
        self.make.body.addWidget(self.tokens)
        fields = row(self.token, self.keep, self.without, gap=Space.S)
        fields.setStretch(0, 1)
        self.give.body.addLayout(fields)
        self.give.body.addWidget(self.kept_for)
        layout = column(gap=Space.M)
        layout.addLayout(head)
        for part in (self.about, self.banner, self.terms, self.make, self.give):
            layout.addWidget(part)
        layout.addStretch(1)
        fill_page(self, layout, self.tr("A token for gated builds"))


class _Address(QWidget):
    """An address, to open or to copy."""

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._address = ""
        self.text = Body()
        self.open = QuietButton(words)
        self.copy = QuietButton(self.tr("Copy"))
        line = row(self.text, self.open, self.copy, gap=Space.S)
        line.setStretch(0, 1)
        self.setLayout(line)
        self.open.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._address)))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._address))

    def show_address(self, address: str) -> None:
        """Show this one."""
        self._address = address
        self.text.setText(fmt.breakable(address))
        for button in (self.open, self.copy):
            button.setAccessibleName(f"{button.text()}: {address}")
