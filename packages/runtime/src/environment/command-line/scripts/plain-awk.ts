const TOKEN =
  /[ \t\r]+|\\\n|#[^\n]*|(?<name>[A-Za-z_]\w*)|(?<value>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|"(?:[^"\\\n]|\\[^])*")|(?<sign>\|\||&&|>>|[-+*%^<=!]=|\+\+|--|[-+*%^<=!~?:,;(){}[\]$\n>/])/y;
const REGEX = /\/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?(?:[^\]\\\n]|\\[^\n])*\])*\//y;
/** The parenthesis of a call. Blanks, continued lines and comments may stand before it. */
const CALL = /(?:\s|\\\r?\n|#[^\n]*\n)*\(/y;
const FUNCTIONS: ReadonlySet<string> = new Set(
  "length substr index split sub gsub gensub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand strftime systime asort asorti".split(
    " ",
  ),
);
const WORDS: ReadonlySet<string> = new Set(
  "BEGIN END if else for while do break continue next exit in delete print printf NR NF FNR FS OFS RS ORS SUBSEP RSTART RLENGTH FILENAME CONVFMT OFMT IGNORECASE RT".split(
    " ",
  ),
);
/** Words after which a slash begins a pattern, and not a division. */
const BEFORE_PATTERN: ReadonlySet<string> = new Set("do else print printf".split(" "));
/** Words and signs after which versions of `awk` read a slash in different ways, by what precedes these. */
const UNCLEAR: ReadonlySet<string> = new Set("BEGIN END if for while break continue next exit in delete ) ++ --".split(" "));

/** True if a program of `awk` only calculates and prints: it opens no files, starts no programs, and calls nothing that is not listed. */
export function isPlainAwk(program: string): boolean {
  let depth = 0;
  let prints = false;
  let endsValue = false;
  let last = "";
  for (let at = 0; at < program.length;) {
    if (program[at] === "/" && !endsValue) {
      REGEX.lastIndex = at;
      const pattern = REGEX.exec(program);
      if (pattern === null) return false;
      at = REGEX.lastIndex;
      endsValue = true;
      last = ")";
      continue;
    }
    // Two slashes may enclose a pattern, in which quotes do not count.
    if (program[at] === "/" && (UNCLEAR.has(last) || FUNCTIONS.has(last)) && program.includes("/", at + 1)) return false;
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(program);
    if (found === null) return false;
    at = TOKEN.lastIndex;
    const { name, value, sign } = found.groups ?? {};
    last = name ?? value ?? sign ?? last;
    if (name !== undefined) {
      CALL.lastIndex = at;
      if (!isListed(name, CALL.test(program))) return false;
      if (name === "print" || name === "printf") prints = true;
      endsValue = !BEFORE_PATTERN.has(name);
    } else if (value !== undefined) endsValue = true;
    else if (sign !== undefined) {
      if (sign === "(" || sign === "[") depth++;
      else if (sign === ")" || sign === "]") depth--;
      // Outside of parentheses, what is printed goes into a file.
      else if ((sign === ">" && prints && depth === 0) || sign === ">>") return false;
      // A list of what is printed may go on behind a newline.
      else if (sign === ";" || sign === "{" || sign === "}") prints = false;
      endsValue = sign === ")" || sign === "]" || sign === "++" || sign === "--";
    }
  }
  return true;
}

/** Names in lower case are variables, unless they are called or read input without a call. */
function isListed(name: string, isCalled: boolean): boolean {
  if (FUNCTIONS.has(name) || WORDS.has(name)) return true;
  return (
    !isCalled &&
    name === name.toLowerCase() &&
    !/^(?:system|close|fflush|getline|nextfile|function|func|switch|case|default|return|getc)$/.test(name)
  );
}
