import { PASSED_OUTSIDE, PASSED_VARIABLES } from "../execution/passed-variables.ts";

/** Variables by which bash finds, reads or prints what it runs. */
const OF_SHELL =
  /^(?:PATH|IFS|ENV|HOME|SHELL|SHELLOPTS|BASHOPTS|BASH_(?:ENV|ALIASES|CMDS|COMPAT|LOADABLES_PATH|XTRACEFD)|CDPATH|GLOBIGNORE|GLOBSORT|EXECIGNORE|FIGNORE|FPATH|ZDOTDIR|PS[0-4]|PROMPT_\w+|FCEDIT|HIST\w+|INPUTRC|MAIL\w*|POSIXLY_CORRECT|TMPDIR|TEXTDOMAIN\w*|TIMEFORMAT|TMOUT|auto_resume|histchars)$/;
/** Variables that bash sets itself. A line may set them as well, but does not know what they hold. */
const SET_BY_SHELL =
  /^(?:_|BASH\w*|COLUMNS|COMP_\w+|COMPREPLY|COPROC\w*|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|FUNCNEST|GROUPS|HOSTNAME|HOSTTYPE|LINENO|LINES|MACHTYPE|MAPFILE|OLDPWD|OPT\w+|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|READLINE_\w+|REPLY|SECONDS|SHLVL|SRANDOM|UID)$/;
const GIVEN = [...PASSED_VARIABLES, ...PASSED_OUTSIDE];
const GIVEN_NAMES: ReadonlySet<string> = new Set(GIVEN.filter((name) => !name.endsWith("*")));
const GIVEN_BEGINNINGS = GIVEN.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));

/** Variables of the environment that only say how much a program prints, and in which form. Programs find nothing that they run by them. */
const NAMES: ReadonlySet<string> = new Set(
  (
    "CI NODE_ENV NODE_DISABLE_COLORS NODE_NO_WARNINGS FORCE_COLOR NO_COLOR CLICOLOR CLICOLOR_FORCE TZ LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME " +
    "COLUMNS LINES TERM PORT DEBUG VERBOSE LOG_LEVEL RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 " +
    "CARGO_TERM_COLOR CARGO_INCREMENTAL CARGO_NET_OFFLINE GOMAXPROCS GOTRACEBACK GOOS GOARCH GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS LESSCHARSET DEBIAN_FRONTEND"
  ).split(" "),
);
const VALUE = /^[\w.,:@+=* -]*$/;

/** True if `NAME=value` before a command, or exported to those after it, does not change what runs. */
export function isHarmlessVariable(name: string, value: string): boolean {
  return NAMES.has(name) && VALUE.test(value);
}

/**
 * True if setting this variable changes what the shell or later programs do. A variable of the line reaches programs only if they get one of its
 * name anyway, because what a line exports is held against a list.
 */
export function isSteering(name: string): boolean {
  if (OF_SHELL.test(name)) return true;
  if (SET_BY_SHELL.test(name) || isHarmlessVariable(name, "")) return false;
  return GIVEN_NAMES.has(name) || GIVEN_BEGINNINGS.some((beginning) => name.startsWith(beginning)) || process.env[name] !== undefined;
}

/** True if the line may set this variable for itself: bash neither sets it nor gives it a meaning. */
export function isOrdinary(name: string): boolean {
  return !SET_BY_SHELL.test(name) && !isSteering(name);
}
