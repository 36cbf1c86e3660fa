import { parseKey } from "@earendil-works/pi-tui";
import type { LivePart, LiveRoom } from "../terminal/live-part.ts";
import { displayWidth } from "../text/display-width.ts";
import type { Style } from "../text/style.ts";
import { createCompletionMenu } from "./completions/completion-menu.ts";
import type { CompletionSource } from "./completions/completion-source.ts";
import { createHistorySearch, type HistorySearch } from "./history-search.ts";
import { createHistoryWalk } from "./history-walk.ts";
import { keyAction } from "./keys.ts";
import { createPastedTexts } from "./pasted-texts.ts";
import { hiddenRows, type PromptLabel, promptPrefix, promptRows } from "./prompt-rows.ts";
import { fromEditable, toEditable } from "./stand-ins.ts";
import { type AreaRows, createTextArea } from "./text-area.ts";

export interface PromptEditorOptions {
  readonly style: Style;
  /** Earlier messages, newest first. */
  readonly history?: readonly string[];
  /** Absent: the editor has no menus. */
  readonly completions?: CompletionSource | undefined;
  /** True for answers: no key makes a new line, and there is no search. A paste may still have several lines. */
  readonly isOneLine?: boolean;
  /** Called when it shows something else without a call, because suggestions arrived. */
  onChange(): void;
  /** Called if suggestions cannot be made. Default: throws. */
  onProblem?(error: unknown): void;
  /** Receives the text that Enter sends. The editor is empty by then. */
  onSend(text: string): void;
}

/** A text that a person edits, with history, search and menus. */
export interface PromptEditor {
  readonly part: LivePart;
  /** Sets the words before the text. */
  label(label: PromptLabel): void;
  /** Takes a key. */
  handle(sequence: string): void;
  paste(text: string): void;
  /** True while the history is searched. */
  readonly isSearching: boolean;
  /** Esc: closes a search or a menu. @returns false if neither is open */
  close(): boolean;
  readonly isEmpty: boolean;
  /** The text, with pastes in place of their markers. */
  text(): string;
  setText(text: string): void;
  /** Inserts a text at the cursor, shown as it is. */
  insert(text: string): void;
}

const NEW_LINE = "\n";
/** A text that is set, such as an earlier message, is folded if it is longer than this: the editor lays out all of its text at each frame. */
const LONG_LINES = 200;
const LONG_CHARACTERS = 20_000;

export function createPromptEditor(options: PromptEditorOptions): PromptEditor {
  const { style, history = [], completions, isOneLine = false, onChange, onSend } = options;
  const onProblem = (error: unknown): void => {
    if (options.onProblem === undefined) throw error;
    options.onProblem(error);
  };
  const area = createTextArea({ style, onChange });
  const { editor } = area;
  const pasted = createPastedTexts();
  const walk = createHistoryWalk(history);
  let label: PromptLabel = { prompt: "› " };
  let search: HistorySearch | undefined;
  let room: LiveRoom = { columns: 80, rows: 24 };
  const menu =
    completions && createCompletionMenu({ source: completions, columns: () => room.columns - displayWidth(label.prompt), onProblem });
  if (menu !== undefined) area.complete(menu.provider);

  const text = (): string => fromEditable(pasted.restore(editor.getExpandedText()));

  function setText(next: string): void {
    const isLong = next.length > LONG_CHARACTERS || next.split("\n", LONG_LINES + 1).length > LONG_LINES;
    editor.setText(isLong ? "" : toEditable(next));
    if (isLong) fold(pasted.keep(next));
  }

  /** Inserts a text as the editor inserts a paste, which it folds if it is long. */
  function fold(held: string): void {
    editor.handleInput(`\u001b[200~${held}\u001b[201~`);
  }

  function rowsOf(given: LiveRoom): { readonly rows: AreaRows; readonly prefix: string } {
    // The sign of a shell: this message is a command.
    const isCommand = !isOneLine && editor.getText().startsWith("!");
    const prefix = promptPrefix(isCommand ? { ...label, prompt: label.prompt.replace("›", "$") } : label, given.columns);
    return { rows: area.rows({ columns: Math.max(2, given.columns - displayWidth(prefix)), rows: given.rows }), prefix };
  }

  function move(step: "older" | "newer", sequence: string): void {
    const { rows } = rowsOf(room);
    const isFirst = rows.cursor.row === 0 && rows.above === 0;
    const isLast = rows.cursor.row === rows.text.length - 1 && rows.below === 0;
    const isAtEdge = step === "older" ? isFirst : isLast && walk.isWalking;
    if (isOneLine || !isAtEdge) return editor.handleInput(sequence);
    const next = walk[step](text());
    if (next !== undefined) setText(next);
  }

  function openSearch(): void {
    search = createHistorySearch({
      style,
      entries: walk.entries,
      onTake(found, { isSent }) {
        search = undefined;
        setText(found);
        if (isSent) send();
      },
      onClose() {
        search = undefined;
      },
    });
  }

  function send(): void {
    const sent = text();
    walk.add(isOneLine ? "" : sent);
    setText("");
    // The submission of an empty text forgets what could be undone.
    editor.handleInput("\r");
    pasted.clear();
    onSend(sent);
  }

  function beforeCursor(): string {
    const { line, col } = editor.getCursor();
    return (editor.getLines()[line] ?? "").slice(0, col);
  }

  /** Closes a menu that was made for another text. The library updates its menu after most keys, but not immediately. */
  function closeOldMenu(): void {
    if (editor.isShowingAutocomplete() && menu?.isCurrent(fromEditable(beforeCursor())) !== true) editor.handleInput("\u001b");
  }

  function enter(): void {
    closeOldMenu();
    const before = beforeCursor();
    if (editor.isShowingAutocomplete() && menu?.isComplete(fromEditable(before)) !== true) {
      const isCommand = /^\/\S*$/.test(editor.getText());
      editor.handleInput("\t");
      if (!isCommand) return;
      setText(text().trimEnd());
    } else if (!isOneLine && before.endsWith("\\")) {
      editor.handleInput("\u007f");
      return editor.handleInput(NEW_LINE);
    }
    send();
  }

  function complete(): void {
    closeOldMenu();
    const before = editor.getText();
    editor.handleInput("\t");
    if (editor.getText() !== before) openFolder();
  }

  /** Opens the menu of the folder before the cursor. */
  function openFolder(): void {
    const typed = fromEditable(beforeCursor());
    if (/@(?:"[^"]*|\S*)\/$/.test(typed)) menu?.reopen(typed, () => editor.handleInput("\t"));
  }

  function handle(sequence: string): void {
    if (search !== undefined) return search.handle(sequence);
    const action = keyAction(sequence);
    if ((action === "previous" || action === "next") && !editor.isShowingAutocomplete())
      return move(action === "previous" ? "older" : "newer", action === "previous" ? "\u001b[A" : "\u001b[B");
    switch (action) {
      case "send":
        return enter();
      case "new-line":
        return isOneLine ? undefined : editor.handleInput(NEW_LINE);
      case "search":
        return isOneLine ? undefined : openSearch();
      case "complete":
        return complete();
      default:
        return type(sequence);
    }
  }

  function type(sequence: string): void {
    const before = editor.getText();
    if (sequence >= " " && sequence !== "\u007f") {
      // The menu opens by its last character.
      const characters = [...toEditable(sequence)];
      const last = characters.pop() ?? "";
      if (characters.length > 0) editor.handleInput(characters.join(""));
      editor.handleInput(last);
      // The library opens no menu for a slash, and drops the one that is under way for the text before.
      if (last === "/" && !editor.isShowingAutocomplete()) openFolder();
    } else {
      editor.handleInput(sequence);
      // The library keeps its menu after keys that delete words and lines.
      if (editor.getText() !== before && !isSingleDeletion(sequence)) closeOldMenu();
    }
    if (walk.isWalking && editor.getText() === "" && before !== "") walk.leave();
  }

  return {
    part: {
      rows(given) {
        room = given;
        if (label.isHidden === true) return hiddenRows(label, given);
        if (search !== undefined) return search.rows(given);
        const { rows, prefix } = rowsOf(given);
        return promptRows(rows, { prefix, room: given, style });
      },
    },
    label(next) {
      label = next;
    },
    handle,
    paste(given) {
      if (search !== undefined) search.handle(given.replace(/[\s\p{Cc}]+/gu, " ").trim());
      else {
        // oxlint-disable-next-line no-control-regex -- keys begin with one
        const held = pasted.keep(given.replace(/\u001b\[(\d+);5u/g, controlOf));
        if (held.includes("\n") || held.length > 1000) fold(held);
        else editor.insertTextAtCursor(held);
      }
    },
    get isSearching() {
      return search !== undefined;
    },
    close() {
      if (search !== undefined) search.close();
      else if (editor.isShowingAutocomplete()) editor.handleInput("\u001b");
      else return false;
      return true;
    },
    get isEmpty() {
      return editor.getText() === "";
    },
    text,
    setText(next) {
      walk.leave();
      setText(next);
    },
    insert(next) {
      editor.insertTextAtCursor(toEditable(next));
    },
  };
}

/** True for a key that deletes one character, after which the library updates its menu. */
function isSingleDeletion(sequence: string): boolean {
  return ["backspace", "shift+backspace", "delete", "ctrl+d"].includes(parseKey(sequence) ?? "");
}

/** Some terminals encode the control characters of a paste as keys. */
function controlOf(whole: string, code: string): string {
  const letter = String.fromCharCode(Number(code)).toLowerCase();
  return /^[a-z]$/.test(letter) ? String.fromCharCode(letter.charCodeAt(0) - 96) : whole;
}
