/** The part of the library that is used here. Its own types bring those of a browser. */
declare module "highlight.js/lib/core" {
  export interface LanguageDefinition {
    readonly name?: string;
  }
  export type DefineLanguage = (library: Highlighter) => LanguageDefinition;
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
  const library: Highlighter;
  export default library;
}

declare module "highlight.js/lib/languages/*" {
  import type { DefineLanguage } from "highlight.js/lib/core";
  const define: DefineLanguage;
  export default define;
}
