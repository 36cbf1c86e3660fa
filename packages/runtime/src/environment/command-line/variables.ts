// Variables by which the shell, the loader or a program finds what it runs.
const STEERING =
  /^(?:PATH|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|CDPATH|FPATH|GLOBIGNORE|EXECIGNORE|HOME|TMPDIR|ZDOTDIR|PS[0-4]|PROMPT_COMMAND|FCEDIT|HISTFILE|INPUTRC|EDITOR|VISUAL|PAGER|BROWSER|MANPAGER|MANROFFOPT|SYSTEMD_PAGER|SYSTEMD_EDITOR|AWKPATH|AWKLIBPATH|GREP_OPTIONS|TAR_OPTIONS|TAPE|RSH|RSYNC_\w+|CC|CXX|LD|AR|AS|CPP|FC|MAKE|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|EXINIT|VIMINIT|LUA_\w+|R_\w+|TCLLIBPATH|DENO_\w+|BUN_\w+|CLASSPATH|_JAVA_OPTIONS|PSMODULEPATH|GCONV_PATH|NLSPATH|LOCPATH|HOSTALIASES|RES_OPTIONS|OPENSSL_\w+|SSL_\w+|KUBECONFIG|KUBE_EDITOR|DOCKER_\w+|EMACS\w*|SUDO_\w+|SSH_\w+|FZF_\w+|RIPGREP_CONFIG_PATH|WGETRC|CURL_HOME|XDG_\w+|npm_\w+|NPM_\w+|YARN_\w+|PNPM_\w+|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|CARGO_\w+|GOFLAGS|GOENV|GOROOT|GOPATH|GOTOOLCHAIN|GOPROXY|GRADLE_OPTS|MAVEN_\w+|JAVA_HOME|NODE_\w+|GIT_\w+|PYTHON\w*|PERL\w*|RUBY\w*|GEM_\w+|BUNDLE_\w+|PHP\w*|PHPRC|BASH_\w+|LD_\w+|DYLD_\w+|LESS\w*|LC_\w*PATH|PIP_\w+|UV_\w+|VIRTUAL_ENV|CONDA_\w+|https?_proxy|HTTPS?_PROXY|ALL_PROXY|all_proxy|ftp_proxy|no_proxy|NO_PROXY)$/;
/** Variables that bash sets itself, or gives a meaning of their own. */
const OF_BASH =
  /^(?:_|BASH\w*|COLUMNS|COMP_\w+|COMPREPLY|COPROC\w*|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|FUNCNEST|GROUPS|HIST\w+|HOSTNAME|HOSTTYPE|LINENO|LINES|MACHTYPE|MAPFILE|OLDPWD|OPT\w+|OSTYPE|PIPESTATUS|POSIXLY_CORRECT|PPID|PWD|RANDOM|READLINE_\w+|REPLY|SECONDS|SHELL\w*|SHLVL|SRANDOM|TIMEFORMAT|TMOUT|UID)$/;
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

/** True if setting this variable may change what runs. */
export function isSteering(name: string): boolean {
  return STEERING.test(name) && !isHarmlessVariable(name, "");
}

/** True if the line may set this variable for itself: bash neither sets it nor gives it a meaning. */
export function isOrdinary(name: string): boolean {
  return !OF_BASH.test(name) && !isSteering(name);
}
