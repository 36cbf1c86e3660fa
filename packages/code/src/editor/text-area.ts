import {
  type AutocompleteProvider,
  CURSOR_MARKER,
  Editor,
  type EditorTheme,
  KeybindingsManager,
  setKeybindings,
  stripTerminalSequences,
  TUI_KEYBINDINGS,
  type TUI,
} from "@earendil-works/pi-tui";
import { displayWidth } from "../text/display-width.ts";
import type { Style } from "../text/style.ts";
import { shownRow } from "./stand-ins.ts";

/** Rows of a text area. The rows of its menu follow those of its text. */
export interface AreaRows {
  readonly text: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
  /** Rows that are scrolled out of view. */
  readonly above: number;
  readonly below: number;
  readonly menu: readonly string[];
}

export interface TextAreaOptions {
  readonly style: Style;
  /** Called when the area must be drawn again without a key, because suggestions arrived. */
  onChange(): void;
}

/** The editor of the library, without its borders, its painted cursor and its screen. */
export interface TextArea {
  /** The editor itself; its text is in the form of `toEditable`. */
  readonly editor: Editor;
  /** Sets the source of its menu. */
  complete(provider: AutocompleteProvider): void;
  rows(room: { readonly columns: number; readonly rows: number }): AreaRows;
}

/** Rows of a menu at most. */
export const MENU_ROWS = 10;

class BorderlessEditor extends Editor {
  above = 0;
  below = 0;

  protected override renderTopBorder(_width: number, hiddenLineCount: number): string {
    this.above = hiddenLineCount;
    return BORDER;
  }

  protected override renderBottomBorder(_width: number, hiddenLineCount: number): string {
    this.below = hiddenLineCount;
    return BORDER;
  }
}

/** No row is empty, because the editor pads rows to its width. */
const BORDER = "";
/** The share of the terminal that the editor of the library takes. */
const SHARE = 0.3;

export function createTextArea({ style, onChange }: TextAreaOptions): TextArea {
  setKeybindings(
    new KeybindingsManager(TUI_KEYBINDINGS, {
      "tui.editor.undo": ["ctrl+-", "ctrl+shift+-", "ctrl+_"],
      // Terminals use this key themselves, and the next character would be lost.
      "tui.editor.jumpForward": [],
      "tui.editor.jumpBackward": [],
    }),
  );
  const terminal = { rows: 24 };
  // The editor calls nothing else of its screen; the cast is the one place that depends on it.
  const screen = { requestRender: onChange, terminal } as TUI;
  const theme: EditorTheme = {
    borderColor: (text) => text,
    selectList: {
      selectedPrefix: style.bold,
      selectedText: style.bold,
      description: style.dim,
      scrollInfo: style.dim,
      noMatch: style.dim,
    },
  };
  const editor = new BorderlessEditor(screen, theme, { autocompleteMaxVisible: MENU_ROWS });
  editor.focused = true;
  return {
    editor,
    complete: (provider) => editor.setAutocompleteProvider(provider),
    rows({ columns, rows }) {
      terminal.rows = Math.ceil((Math.max(5, Math.floor(rows / 2)) + 0.5) / SHARE);
      const rendered = editor.render(columns).slice(1);
      const bottom = rendered.indexOf(BORDER);
      const text = rendered.slice(0, bottom);
      const row = Math.max(
        0,
        text.findIndex((line) => line.includes(CURSOR_MARKER)),
      );
      const [before = ""] = (text[row] ?? "").split(CURSOR_MARKER);
      return {
        text: text.map((line) => shownRow(stripTerminalSequences(line).trimEnd())),
        cursor: { row, column: displayWidth(shownRow(before)) },
        above: editor.above,
        below: editor.below,
        menu: rendered.slice(bottom + 1).map((line) => line.trimEnd()),
      };
    },
  };
}
