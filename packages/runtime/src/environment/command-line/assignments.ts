import type { Reading } from "./reading.ts";
import type { ShellWord } from "./shell-word.ts";

export interface Assignment {
  readonly name: string;
  /** Why what runs under it may not be what its text says. */
  readonly caution?: string;
  /** It changes which programs run, or what they load. */
  readonly redirects: boolean;
  /** Its value runs where it is expanded again. */
  readonly holdsCode?: boolean;
}

// Variables by which the shell, the loader or a program finds what it runs.
const STEERING =
  /^(?:PATH|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|CDPATH|FPATH|GLOBIGNORE|EXECIGNORE|HOME|TMPDIR|ZDOTDIR|PS[0-4]|PROMPT_COMMAND|FCEDIT|HISTFILE|INPUTRC|EDITOR|VISUAL|PAGER|BROWSER|MANPAGER|MANROFFOPT|SYSTEMD_PAGER|SYSTEMD_EDITOR|AWKPATH|AWKLIBPATH|GREP_OPTIONS|TAR_OPTIONS|TAPE|RSH|RSYNC_\w+|CC|CXX|LD|AR|AS|CPP|FC|MAKE|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|EXINIT|VIMINIT|LUA_\w+|R_\w+|TCLLIBPATH|DENO_\w+|BUN_\w+|CLASSPATH|_JAVA_OPTIONS|PSMODULEPATH|GCONV_PATH|NLSPATH|LOCPATH|HOSTALIASES|RES_OPTIONS|OPENSSL_\w+|SSL_\w+|KUBECONFIG|KUBE_EDITOR|DOCKER_\w+|EMACS\w*|SUDO_\w+|SSH_\w+|FZF_\w+|RIPGREP_CONFIG_PATH|WGETRC|CURL_HOME|XDG_\w+|npm_\w+|NPM_\w+|YARN_\w+|PNPM_\w+|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|CARGO_\w+|GOFLAGS|GOENV|GOROOT|GOPATH|GOTOOLCHAIN|GOPROXY|GRADLE_OPTS|MAVEN_\w+|JAVA_HOME|NODE_\w+|GIT_\w+|PYTHON\w*|PERL\w*|RUBY\w*|GEM_\w+|BUNDLE_\w+|PHP\w*|PHPRC|BASH_\w+|LD_\w+|DYLD_\w+|LESS\w*|LC_\w*PATH|PIP_\w+|UV_\w+|VIRTUAL_ENV|CONDA_\w+|https?_proxy|HTTPS?_PROXY|ALL_PROXY|all_proxy|ftp_proxy|no_proxy|NO_PROXY)$/;
// Variables of those families that are set every day and only say how much or how to print.
const HARMLESS =
  /^(?:NODE_ENV|NODE_DISABLE_COLORS|NODE_NO_WARNINGS|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|PYTHONIOENCODING|PYTHONUTF8|CARGO_TERM_COLOR|LESSCHARSET)$/;
const PLAIN_VALUE = /^[\w ./:,@%+=~^-]*$/;

/** Whether setting this variable may change what runs. */
export function isSteering(name: string): boolean {
  return STEERING.test(name) && !HARMLESS.test(name);
}

export function readAssignment(
  written: { readonly target: string; readonly text: string; readonly values: readonly ShellWord[]; readonly isArray: boolean },
  reading: Reading,
): Assignment {
  const { target, values, isArray } = written;
  const name = /^\w+/.exec(target)?.[0] ?? target;
  const isNumber = !isArray && values.every(({ text, literal }) => literal && /^\d*$/.test(text));
  const calculates = !isArray && values.length === 1 && values[0]?.text.startsWith("$((") === true && values[0].text.endsWith("))");
  if (!isNumber && !calculates) reading.texts.add(name);
  if (isSteering(name)) return { name, redirects: true, caution: `${name} is set, which changes what runs.` };
  // Whatever expands the value again runs what stands in it.
  if (values.some(({ text, literal }) => literal && !PLAIN_VALUE.test(text) && /[`$(]/.test(text)))
    return { name, redirects: false, holdsCode: true, caution: `${name} is set to text that may run as code.` };
  if (values.some(({ substitutes }) => substitutes)) return { name, redirects: false, caution: `${name} is set to what a command prints.` };
  return { name, redirects: false };
}
