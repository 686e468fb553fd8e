"""Every command of the window in one table: key, text, shortcut, menu. Panels connect to them by key."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence

from app.kit import icons
from app.kit.action_button import short_words, tip_of
from app.kit.i18n import QT_TRANSLATE_NOOP, translate


@dataclass(frozen=True)
class Entry:
    """One command. `shortcuts` are portable key texts, the first is shown; `menu` is where it stands.

    `icon` names a file of resources/icons. A bare letter is a shortcut too: Qt gives it to a text that is being
    edited, and to the command otherwise.
    """

    key: str
    text: str
    shortcuts: tuple[str, ...] = ()
    menu: str = ""
    checkable: bool = False
    icon: str = ""


MENUS: tuple[tuple[str, str], ...] = (
    ("file", QT_TRANSLATE_NOOP("Actions", "&File")),
    ("session", QT_TRANSLATE_NOOP("Actions", "&Session")),
    ("go", QT_TRANSLATE_NOOP("Actions", "&Go")),
    ("guide", QT_TRANSLATE_NOOP("Actions", "G&uidance")),
    ("review", QT_TRANSLATE_NOOP("Actions", "&Review")),
    ("files", QT_TRANSLATE_NOOP("Actions", "Ch&anges")),
    ("view", QT_TRANSLATE_NOOP("Actions", "&View")),
    ("help", QT_TRANSLATE_NOOP("Actions", "&Help")),
)

ACTIONS: tuple[Entry, ...] = (
    Entry("file.new_session", QT_TRANSLATE_NOOP("Actions", "&New session…"), ("Ctrl+N",), "file", icon="plus"),
    Entry("file.import", QT_TRANSLATE_NOOP("Actions", "&Open trajectories…"), ("Ctrl+O",), "file", icon="folder-open"),
    Entry("file.demonstration", QT_TRANSLATE_NOOP("Actions", "&Demonstration"), ("Ctrl+D",), "file",
          icon="circle-play"),
    Entry("file.import_folder", QT_TRANSLATE_NOOP("Actions", "Open a &folder…"), ("Ctrl+Shift+O",), "file"),
    Entry("run.open", QT_TRANSLATE_NOOP("Actions", "Open a learning &run…"), ("Ctrl+Alt+O",), "file",
          icon="folder-open"),
    Entry("file.drafts", QT_TRANSLATE_NOOP("Actions", "&Generated tasks…"), (), "file"),
    Entry("file.merge", QT_TRANSLATE_NOOP("Actions", "&Merge opinions…"), (), "file"),
    Entry("file.export_page", QT_TRANSLATE_NOOP("Actions", "Export as &page…"), (), "file"),
    Entry("file.cancel_import", QT_TRANSLATE_NOOP("Actions", "&Cancel opening"), (), "file"),
    Entry("session.archive", QT_TRANSLATE_NOOP("Actions", "Arc&hive session…"), (), "file"),
    Entry("session.delete", QT_TRANSLATE_NOOP("Actions", "&Delete session…"), (), "file"),
    Entry("file.servers", QT_TRANSLATE_NOOP("Actions", "Ser&vers…"), ("Ctrl+Shift+S",), "file"),
    Entry("file.settings", QT_TRANSLATE_NOOP("Actions", "&Settings…"), ("Ctrl+,",), "file"),
    Entry("file.keys", QT_TRANSLATE_NOOP("Actions", "Change &keys…"), (), "file"),
    Entry("file.quit", QT_TRANSLATE_NOOP("Actions", "&Quit (sessions keep running)"), ("Ctrl+Q",), "file"),
    Entry("session.pause", QT_TRANSLATE_NOOP("Actions", "&Pause"), ("Ctrl+Shift+P",), "session", icon="pause"),
    Entry("session.resume", QT_TRANSLATE_NOOP("Actions", "&Resume"), ("Ctrl+Shift+R",), "session", icon="play"),
    Entry("session.interrupt", QT_TRANSLATE_NOOP("Actions", "&Interrupt the running action"), ("Ctrl+Shift+I",),
          "session", icon="zap"),
    Entry("session.allow", QT_TRANSLATE_NOOP("Actions", "All&ow what is asked, once"), ("Ctrl+Alt+A",), "session",
          icon="check"),
    Entry("session.refuse", QT_TRANSLATE_NOOP("Actions", "Refus&e what is asked"), ("Ctrl+Alt+R",), "session",
          icon="x"),
    Entry("session.continue", QT_TRANSLATE_NOOP("Actions", "&Continue…"), ("Ctrl+Shift+Y",), "session",
          icon="skip-forward"),
    Entry("session.take_over", QT_TRANSLATE_NOOP("Actions", "Take o&ver"), ("Ctrl+Alt+T",), "session",
          icon="ship-wheel"),
    Entry("session.hand_back", QT_TRANSLATE_NOOP("Actions", "&Hand back"), ("Ctrl+Alt+B",), "session", icon="bot"),
    Entry("session.branch", QT_TRANSLATE_NOOP("Actions", "&Branch from this step…"), ("B",), "session",
          icon="corner-down-right"),
    Entry("session.snapshot", QT_TRANSLATE_NOOP("Actions", "Take a s&napshot"), ("Ctrl+Shift+N",), "session"),
    Entry("session.snapshots", QT_TRANSLATE_NOOP("Actions", "Snap&shots…"), ("Ctrl+Shift+H",), "session"),
    Entry("session.stop", QT_TRANSLATE_NOOP("Actions", "&Stop…"), (), "session", icon="square"),
    Entry("session.clear_attention", QT_TRANSLATE_NOOP("Actions", "&Attention dealt with"), ("Ctrl+Shift+A",),
          "session"),
    Entry("session.thresholds", QT_TRANSLATE_NOOP("Actions", "&When it asks for a look…"), (), "session"),
    Entry("session.store_offline", QT_TRANSLATE_NOOP("Actions", "Store off&line"), ("Ctrl+Shift+K",), "session"),
    Entry("session.save_filter", QT_TRANSLATE_NOOP("Actions", "Save this &filter…"), ("Ctrl+Alt+S",), "session"),
    Entry("go.next_step", QT_TRANSLATE_NOOP("Actions", "&Next step"), ("J", "Alt+Down"), "go"),
    Entry("go.previous_step", QT_TRANSLATE_NOOP("Actions", "&Previous step"), ("Shift+J", "Alt+Up"), "go"),
    Entry("go.task", QT_TRANSLATE_NOOP("Actions", "The tas&k"), ("0",), "go", icon="target"),
    Entry("go.handed_in", QT_TRANSLATE_NOOP("Actions", "What was &handed in"), ("H",), "go", icon="package-check"),
    Entry("go.next_person", QT_TRANSLATE_NOOP("Actions", "Next turn of a &person"), ("P",), "go", icon="user-round"),
    Entry("go.previous_person", QT_TRANSLATE_NOOP("Actions", "Previous turn of a person"), ("Shift+P",), "go"),
    Entry("go.caller", QT_TRANSLATE_NOOP("Actions", "&Back to where this session came from"), ("Backspace",),
          "go", icon="corner-left-up"),
    Entry("go.follow", QT_TRANSLATE_NOOP("Actions", "&Follow the live tail"), ("Ctrl+End", "F"), "go"),
    Entry("go.find", QT_TRANSLATE_NOOP("Actions", "Find in the &trajectory"), ("Ctrl+F", "/"), "go"),
    Entry("go.find_next", QT_TRANSLATE_NOOP("Actions", "Find ne&xt"), ("F3", "Ctrl+G"), "go"),
    Entry("go.find_previous", QT_TRANSLATE_NOOP("Actions", "Find pre&vious"), ("Shift+F3", "Ctrl+Shift+G"), "go"),
    Entry("go.find_all", QT_TRANSLATE_NOOP("Actions", "Find in a&ll sessions"), ("Ctrl+Shift+F",), "go"),
    Entry("go.filter", QT_TRANSLATE_NOOP("Actions", "F&ilter steps"), ("Ctrl+Shift+L",), "go", checkable=True),
    Entry("go.outline", QT_TRANSLATE_NOOP("Actions", "&Outline"), ("O",), "go", icon="list-tree"),
    Entry("go.by_time", QT_TRANSLATE_NOOP("Actions", "Overview by t&ime, idle squeezed"), ("Shift+O",), "go",
          checkable=True),
    Entry("go.next_error", QT_TRANSLATE_NOOP("Actions", "Next &error"), ("E",), "go"),
    Entry("go.previous_error", QT_TRANSLATE_NOOP("Actions", "Previous e&rror"), ("Shift+E",), "go"),
    Entry("go.parting", QT_TRANSLATE_NOOP("Actions", "Where two runs &part"), ("Y",), "go"),
    Entry("go.news", QT_TRANSLATE_NOOP("Actions", "Walk &what is new"), ("W",), "go", icon="history"),
    Entry("go.next_session", QT_TRANSLATE_NOOP("Actions", "Next session that needs &attention"), ("A",), "go"),
    Entry("go.sessions", QT_TRANSLATE_NOOP("Actions", "Filter &sessions"), ("S",), "go"),
    Entry("run.show", QT_TRANSLATE_NOOP("Actions", "The learning r&un"), ("Ctrl+R",), "go"),
    Entry("run.previous", QT_TRANSLATE_NOOP("Actions", "Update before, of the learning run"), ("[",), "go"),
    Entry("run.next", QT_TRANSLATE_NOOP("Actions", "Next update of the learning run"), ("]",), "go"),
    Entry("run.newest", QT_TRANSLATE_NOOP("Actions", "Newest update of the learning run"), (), "go"),
    Entry("go.guide", QT_TRANSLATE_NOOP("Actions", "Write &guidance"), ("G",), "go"),
    Entry("go.link", QT_TRANSLATE_NOOP("Actions", "&Go to a link or step…"), ("Ctrl+L",), "go"),
    Entry("go.copy_link", QT_TRANSLATE_NOOP("Actions", "&Copy a link to this place"), ("Ctrl+Shift+C",), "go"),
    Entry("guide.edit", QT_TRANSLATE_NOOP("Actions", "Change the chosen message"), ("Ctrl+Shift+E",), "guide"),
    Entry("guide.withdraw", QT_TRANSLATE_NOOP("Actions", "Withdraw the chosen message"), (), "guide"),
    Entry("guide.again", QT_TRANSLATE_NOOP("Actions", "Use the chosen message's text again"), (), "guide"),
    Entry("guide.template", QT_TRANSLATE_NOOP("Actions", "Insert a template…"), ("Ctrl+T",), "guide"),
    Entry("guide.find", QT_TRANSLATE_NOOP("Actions", "Find in guidance"), ("Ctrl+H",), "guide"),
    Entry("guide.find_all", QT_TRANSLATE_NOOP("Actions", "Find in the guidance of all sessions"), ("Ctrl+Alt+H",),
          "guide", checkable=True),
    Entry("guide.effect", QT_TRANSLATE_NOOP("Actions", "What the agent did before and after the message"),
          ("Ctrl+Shift+B",), "guide", checkable=True),
    Entry("review.keep", QT_TRANSLATE_NOOP("Actions", "&Keep"), ("K",), "review", icon="check"),
    Entry("review.mask", QT_TRANSLATE_NOOP("Actions", "&Mask"), ("M",), "review", icon="circle-slash"),
    Entry("review.unsure", QT_TRANSLATE_NOOP("Actions", "&Unsure"), ("U",), "review", icon="circle-question-mark"),
    Entry("review.none", QT_TRANSLATE_NOOP("Actions", "&Take my verdict back"), ("Shift+U",), "review"),
    Entry("review.reason", QT_TRANSLATE_NOOP("Actions", "R&eason"), ("R",), "review"),
    Entry("review.note", QT_TRANSLATE_NOOP("Actions", "Re&mark"), ("N",), "review", icon="message-square"),
    Entry("review.remark", QT_TRANSLATE_NOOP("Actions", "Remark on the selected &words…"), ("Ctrl+Alt+M",), "review"),
    Entry("review.tag", QT_TRANSLATE_NOOP("Actions", "Ta&g…"), ("T",), "review", icon="tag"),
    Entry("review.undo", QT_TRANSLATE_NOOP("Actions", "U&ndo"), ("Z", "Ctrl+Z"), "review", icon="undo-2"),
    Entry("review.redo", QT_TRANSLATE_NOOP("Actions", "&Redo"), ("Shift+Z", "Ctrl+Shift+Z"), "review"),
    Entry("review.next", QT_TRANSLATE_NOOP("Actions", "Ne&xt undecided"), ("X", "Ctrl+J"), "review",
          icon="skip-forward"),
    Entry("queue.next", QT_TRANSLATE_NOOP("Actions", "Next session of the &queue"), ("Q",), "review",
          icon="skip-forward"),
    Entry("queue.previous", QT_TRANSLATE_NOOP("Actions", "&Previous session of the queue"), ("Shift+Q",), "review"),
    Entry("queue.make", QT_TRANSLATE_NOOP("Actions", "Make a review queue of these sessions…"), (), "review",
          icon="plus"),
    Entry("queue.add", QT_TRANSLATE_NOOP("Actions", "Put these sessions into a queue…"), (), "review"),
    Entry("queue.take", QT_TRANSLATE_NOOP("Actions", "Take from the queue"), (), "review"),
    Entry("queue.give_back", QT_TRANSLATE_NOOP("Actions", "Give back to the queue"), (), "review"),
    Entry("queue.give_to", QT_TRANSLATE_NOOP("Actions", "Give to somebody…"), (), "review"),
    Entry("queue.done", QT_TRANSLATE_NOOP("Actions", "Done, though not all is judged"), (), "review", checkable=True),
    Entry("queue.remove", QT_TRANSLATE_NOOP("Actions", "Take out of the queue"), (), "review"),
    Entry("queue.close", QT_TRANSLATE_NOOP("Actions", "Close the queue…"), (), "review"),
    Entry("review.next_disagreement", QT_TRANSLATE_NOOP("Actions", "Next &disagreement"), ("D",), "review"),
    Entry("review.action", QT_TRANSLATE_NOOP("Actions", "Next &action of the step, then the whole step"), ("I",),
          "review"),
    Entry("review.rules", QT_TRANSLATE_NOOP("Actions", "&Rules…"), (), "review"),
    Entry("view.tokens", QT_TRANSLATE_NOOP("Actions", "&Tokens by probability"), (), "view", checkable=True),
    Entry("view.raw", QT_TRANSLATE_NOOP("Actions", "Texts as they were &written"), ("V",), "view", checkable=True),
    Entry("view.eye", QT_TRANSLATE_NOOP("Actions", "&What the step saw (its context)"), ("C",), "view", checkable=True,
          icon="eye"),
    Entry("view.remarks", QT_TRANSLATE_NOOP("Actions", "What was said of the &whole session"), (), "view",
          checkable=True),
    Entry("view.in_context", QT_TRANSLATE_NOOP("Actions", "Is the selected text &in the context?"), ("Shift+C",),
          "view"),
    Entry("view.copy_json", QT_TRANSLATE_NOOP("Actions", "Copy the context as &JSON"), (), "view"),
    Entry("view.copy_curl", QT_TRANSLATE_NOOP("Actions", "Copy the context as a c&url request"), (), "view"),
    Entry("files.older", QT_TRANSLATE_NOOP("Actions", "Older version of the file"), ("Alt+Left",), "files"),
    Entry("files.newer", QT_TRANSLATE_NOOP("Actions", "Newer version of the file"), ("Alt+Right",), "files"),
    Entry("files.step", QT_TRANSLATE_NOOP("Actions", "Go to the step of the newer version"), (), "files"),
    Entry("files.next_place", QT_TRANSLATE_NOOP("Actions", "Next changed place"), ("F7",), "files"),
    Entry("files.previous_place", QT_TRANSLATE_NOOP("Actions", "Previous changed place"), ("Shift+F7",), "files"),
    Entry("files.spaces", QT_TRANSLATE_NOOP("Actions", "Change which white space counts"), ("Ctrl+Shift+W",), "files"),
    Entry("files.blank_lines", QT_TRANSLATE_NOOP("Actions", "Ignore empty lines"), (), "files", checkable=True),
    Entry("files.sides", QT_TRANSLATE_NOOP("Actions", "Side by side"), ("Ctrl+Shift+D",), "files", checkable=True),
    Entry("files.most", QT_TRANSLATE_NOOP("Actions", "Most changed first"), ("Ctrl+Shift+M",), "files", checkable=True),
    Entry("files.tree", QT_TRANSLATE_NOOP("Actions", "Files by folder"), ("Ctrl+Shift+T",), "files", checkable=True),
    Entry("view.palette", QT_TRANSLATE_NOOP("Actions", "C&ommands…"), ("Ctrl+K",), "view"),
    Entry("view.next_panel", QT_TRANSLATE_NOOP("Actions", "&Next panel"), ("F6",), "view"),
    Entry("view.previous_panel", QT_TRANSLATE_NOOP("Actions", "&Previous panel"), ("Shift+F6",), "view"),
    Entry("view.files", QT_TRANSLATE_NOOP("Actions", "&Files, all of them or one line"), ("F4",), "view"),
    Entry("view.side", QT_TRANSLATE_NOOP("Actions", "Show or hide the left &side"), ("Ctrl+B",), "view",
          icon="panel-left"),
    Entry("view.live", QT_TRANSLATE_NOOP("Actions", "&Live"), ("Ctrl+1",), "view", checkable=True),
    Entry("view.read", QT_TRANSLATE_NOOP("Actions", "&Read"), ("Ctrl+2",), "view", checkable=True),
    Entry("view.compare", QT_TRANSLATE_NOOP("Actions", "Co&mpare"), ("Ctrl+3",), "view", checkable=True),
    Entry("view.export", QT_TRANSLATE_NOOP("Actions", "&Export"), ("Ctrl+4",), "view", checkable=True),
    Entry("view.queue", QT_TRANSLATE_NOOP("Actions", "&Queue"), ("Ctrl+5",), "view", checkable=True),
    Entry("help.keys", QT_TRANSLATE_NOOP("Actions", "&Keyboard shortcuts"), ("?", "F1"), "help"),
    Entry("help.manual", QT_TRANSLATE_NOOP("Actions", "&Manual"), (), "help"),
    Entry("help.guide", QT_TRANSLATE_NOOP("Actions", "&Guide through the demonstration"), (), "help"),
    Entry("help.about", QT_TRANSLATE_NOOP("Actions", "&About Tiphys"), (), "help"),
)


class Actions:
    """The QActions of the table, by key."""

    def __init__(self, parent: QObject, table: tuple[Entry, ...] = ACTIONS) -> None:
        self.table = table
        self._made = {entry.key: _make(entry, parent) for entry in table}

    def __getitem__(self, key: str) -> QAction:
        """The action of a key. Raises KeyError."""
        return self._made[key]

    def of_menu(self, menu: str) -> list[QAction]:
        """The actions of one menu, in the table's order."""
        return [self._made[e.key] for e in self.table if e.menu == menu]


def _make(entry: Entry, parent: QObject) -> QAction:
    action = QAction(translate("Actions", entry.text), parent)
    action.setObjectName(entry.key)
    action.setIconText(short_words(action.text()))
    action.setCheckable(entry.checkable)
    if entry.icon:
        action.setIcon(icons.icon(entry.icon))
        action.setProperty("icon_name", entry.icon)
    action.setShortcuts([QKeySequence(s, QKeySequence.SequenceFormat.PortableText) for s in entry.shortcuts])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setToolTip(tip_of(action))
    return action
