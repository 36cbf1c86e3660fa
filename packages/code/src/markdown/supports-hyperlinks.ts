const PROGRAMS: ReadonlySet<string> = new Set(["iTerm.app", "WezTerm", "vscode", "ghostty", "rio", "Tabby", "Hyper", "zed"]);
const TERMS = /^(?:xterm-(?:kitty|ghostty)|foot|alacritty|wezterm|contour)/;

/** True if the environment names a terminal that opens hyperlinks (OSC 8). False within a multiplexer, which may drop them. */
export function supportsHyperlinks(environment: { readonly [name: string]: string | undefined }): boolean {
  const forced = environment["FORCE_HYPERLINK"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  const { TERM: term = "", TERM_PROGRAM: program = "" } = environment;
  if (environment["TMUX"] !== undefined || /^(?:screen|tmux|dumb)/.test(term)) return false;
  if (PROGRAMS.has(program) || TERMS.test(term)) return true;
  if (environment["WT_SESSION"] !== undefined || environment["KONSOLE_VERSION"] !== undefined) return true;
  return Number(environment["VTE_VERSION"] ?? 0) >= 5_000;
}
