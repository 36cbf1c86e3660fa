import type { DefineLanguage } from "./highlight-core.mjs";

export interface CodeLanguage {
  readonly name: string;
  /** Names of languages that occur within this one. */
  readonly embeds?: readonly string[];
  /** Names after the opening of a fence and ends of file names. */
  readonly aliases: readonly string[];
  load(): Promise<{ readonly default: DefineLanguage }>;
}

/** The languages that are coloured. Each is imported on its first use. */
export const CODE_LANGUAGES: readonly CodeLanguage[] = [
  { name: "typescript", aliases: ["ts", "tsx", "mts", "cts"], load: () => import("highlight.js/lib/languages/typescript") },
  { name: "javascript", aliases: ["js", "jsx", "mjs", "cjs", "node"], load: () => import("highlight.js/lib/languages/javascript") },
  { name: "json", aliases: ["jsonc", "json5", "jsonl"], load: () => import("highlight.js/lib/languages/json") },
  { name: "python", aliases: ["py", "pyi", "python3"], load: () => import("highlight.js/lib/languages/python") },
  { name: "go", aliases: ["golang"], load: () => import("highlight.js/lib/languages/go") },
  { name: "rust", aliases: ["rs"], load: () => import("highlight.js/lib/languages/rust") },
  { name: "java", aliases: [], load: () => import("highlight.js/lib/languages/java") },
  { name: "c", aliases: ["h"], load: () => import("highlight.js/lib/languages/c") },
  { name: "cpp", aliases: ["c++", "cc", "cxx", "hpp", "hh"], load: () => import("highlight.js/lib/languages/cpp") },
  { name: "csharp", aliases: ["cs", "c#"], load: () => import("highlight.js/lib/languages/csharp") },
  { name: "bash", aliases: ["sh", "shell", "zsh", "console"], load: () => import("highlight.js/lib/languages/bash") },
  { name: "yaml", aliases: ["yml"], load: () => import("highlight.js/lib/languages/yaml") },
  { name: "ini", aliases: ["toml", "properties", "editorconfig"], load: () => import("highlight.js/lib/languages/ini") },
  {
    name: "xml",
    embeds: ["javascript", "css"],
    aliases: ["html", "htm", "xhtml", "svg", "vue", "svelte"],
    load: () => import("highlight.js/lib/languages/xml"),
  },
  { name: "css", aliases: [], load: () => import("highlight.js/lib/languages/css") },
  { name: "scss", aliases: ["sass"], load: () => import("highlight.js/lib/languages/scss") },
  { name: "sql", aliases: ["postgresql", "sqlite", "mysql"], load: () => import("highlight.js/lib/languages/sql") },
  { name: "diff", aliases: ["patch"], load: () => import("highlight.js/lib/languages/diff") },
  { name: "markdown", embeds: ["xml"], aliases: ["md", "mdx"], load: () => import("highlight.js/lib/languages/markdown") },
  { name: "ruby", aliases: ["rb", "gemfile", "rakefile"], load: () => import("highlight.js/lib/languages/ruby") },
  { name: "php", aliases: [], load: () => import("highlight.js/lib/languages/php") },
  { name: "kotlin", aliases: ["kt", "kts"], load: () => import("highlight.js/lib/languages/kotlin") },
  { name: "swift", aliases: [], load: () => import("highlight.js/lib/languages/swift") },
  { name: "lua", aliases: [], load: () => import("highlight.js/lib/languages/lua") },
  { name: "dockerfile", aliases: ["docker"], load: () => import("highlight.js/lib/languages/dockerfile") },
  { name: "makefile", aliases: ["make", "mk"], load: () => import("highlight.js/lib/languages/makefile") },
  { name: "powershell", aliases: ["ps1", "pwsh"], load: () => import("highlight.js/lib/languages/powershell") },
];

/** Returns a function that finds the language of a fence's first line, such as `ts` or `{.python}`; `undefined` if it is not known. */
export function createLanguageIndex(languages: readonly CodeLanguage[]): (info: string) => CodeLanguage | undefined {
  const byName = new Map(languages.flatMap((language) => [language.name, ...language.aliases].map((name) => [name, language] as const)));
  return (info) => byName.get(/[\w+#-]+/.exec(info)?.[0].toLowerCase() ?? "");
}

const languageOf = createLanguageIndex(CODE_LANGUAGES);

/** The language of a file, by the end of its name or by its whole name; `undefined` if it is not known. */
export function languageOfFile(path: string): CodeLanguage | undefined {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  return languageOf(name) ?? languageOf(name.slice(name.lastIndexOf(".") + 1));
}
