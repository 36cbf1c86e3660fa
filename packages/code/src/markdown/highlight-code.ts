import type { Highlighter } from "./highlight-core.mjs";
import { CODE_LANGUAGES, type CodeLanguage, createLanguageIndex } from "./code-languages.ts";
import { codeSpans } from "./code-spans.ts";
import { PLAIN, type Row } from "./span.ts";
import { splitLines } from "./wrap-spans.ts";

/** Colours for code. What is not loaded yet is shown without them, so that no line waits. */
export interface CodeHighlight {
  /** Loads the language of a fence or file name, such as `ts`, with those within it. Code of an unknown one stays plain. */
  load(language: string): Promise<void>;
  /** True if code of a language gets colours. */
  isLoaded(language: string): boolean;
  /** Colours the lines of one text, from the first to the last. */
  painter(language: string): CodePainter;
}

export interface CodePainter {
  /** Returns the next line, coloured in the state that the lines before it left. */
  paint(line: string): Row;
  /** Returns the same for a line that is not complete. */
  peek(line: string): Row;
}

export interface HighlightOptions {
  /** Receives the reason why a language could not be loaded; its code stays plain. */
  readonly onProblem?: (message: string) => void;
  /** Default: those that the package knows. */
  readonly languages?: readonly CodeLanguage[];
}

/** Lines and characters of a text beyond which it stays plain. */
const MAX_LINES = 2_000;
const MAX_LENGTH = 200_000;
/** The length of an open construct, such as a comment, beyond which the rest of a text stays plain: it is read again for each line. */
const MAX_OPEN = 16_000;

export function createCodeHighlight({ onProblem = () => {}, languages = CODE_LANGUAGES }: HighlightOptions = {}): CodeHighlight {
  const find = createLanguageIndex(languages);
  let library: Highlighter | undefined;
  const loading = new Map<string, Promise<void>>();
  const loaded = new Set<string>();

  async function loadLanguage({ name, embeds = [], load }: CodeLanguage): Promise<void> {
    const [core, definition] = await Promise.all([import("./highlight-core.mjs"), load()]);
    library ??= core.highlightCore.newInstance();
    library.registerLanguage(name, definition.default);
    await Promise.all(languages.filter((other) => embeds.includes(other.name)).map(loadOnce));
    loaded.add(name);
  }

  function loadOnce(language: CodeLanguage): Promise<void> {
    const known = loading.get(language.name);
    if (known !== undefined) return known;
    const started = loadLanguage(language).catch((error: unknown) =>
      onProblem(`Code in ${language.name} is shown without colours, because its grammar could not be loaded: ${String(error)}`),
    );
    loading.set(language.name, started);
    return started;
  }

  return {
    async load(language) {
      const found = find(language);
      if (found !== undefined) await loadOnce(found);
    },
    isLoaded: (language) => loaded.has(find(language)?.name ?? ""),
    painter(language) {
      const found = find(language);
      // The lines that come before it is loaded stay plain.
      if (found !== undefined) void loadOnce(found);
      return createPainter((code) => {
        if (found === undefined || library === undefined || !loaded.has(found.name)) return undefined;
        const { value, _top } = library.highlight(code, { language: found.name, ignoreIllegals: true });
        return { rows: splitLines(codeSpans(value)), isOpen: _top?.parent !== undefined };
      });
    },
  };
}

/** A highlight that leaves all code as it is. */
export function createPlainHighlight(): CodeHighlight {
  return { load: () => Promise.resolve(), isLoaded: () => false, painter: () => createPainter(() => undefined) };
}

interface ColouredCode {
  readonly rows: readonly Row[];
  /** True if a construct of several lines is open at the end. */
  readonly isOpen: boolean;
}

/** Reads again only the lines of the construct that is open, since the library cannot go on from a state. */
function createPainter(colour: (code: string) => ColouredCode | undefined): CodePainter {
  let open = "";
  let lines = 0;
  let length = 0;
  let isPlain = false;

  function coloured(line: string): ColouredCode | undefined {
    return isPlain || line.length > MAX_OPEN ? undefined : colour(`${open}${line}\n`);
  }

  // The last row is the empty one after the newline.
  const lastRow = (code: ColouredCode | undefined, line: string): Row => code?.rows.at(-2) ?? [{ text: line, look: PLAIN }];

  return {
    paint(line) {
      lines += 1;
      length += line.length + 1;
      isPlain ||= lines > MAX_LINES || length > MAX_LENGTH || open.length > MAX_OPEN;
      const code = coloured(line);
      open = code?.isOpen === true ? `${open}${line}\n` : "";
      return lastRow(code, line);
    },
    peek: (line) => lastRow(coloured(line), line),
  };
}
