const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/I?)`;
const COMMAND = new RegExp(
  String.raw`^\s*(?:${ADDRESS}(?:\s*,\s*(?:${ADDRESS}|[+~]\d+))?\s*!?\s*)?(?:[pdqDPNnhHgGxlF=]\d*|s([/|#,@:!%])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiIM\d]*|y/[^/]*/[^/]*/)?\s*`,
);

/** True if a script of `sed` only looks for text, prints it and changes it: it has none of `e`, `w` and `r`, no files and no programs. */
export function isPlainSed(script: string): boolean {
  let rest = script;
  while (rest !== "") {
    const found = COMMAND.exec(rest);
    if (found === null) return false;
    rest = rest.slice(found[0].length);
    if (rest === "") return true;
    if (!/^[;\n]/.test(rest)) return false;
    rest = rest.slice(1);
  }
  return true;
}
