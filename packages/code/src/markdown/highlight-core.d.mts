export type DefineLanguage = (library: object) => object;

export interface Highlighted {
  /** HTML of `<span class="hljs-…">`, text and entities. */
  readonly value: string;
  /** The construct that is open at the end; the language itself has no parent. */
  readonly _top?: { readonly parent?: object };
}

export interface Highlighter {
  newInstance(): Highlighter;
  registerLanguage(name: string, define: DefineLanguage): void;
  highlight(code: string, options: { readonly language: string; readonly ignoreIllegals: boolean }): Highlighted;
}

export const highlightCore: Highlighter;
