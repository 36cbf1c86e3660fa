import type { OptionSpec } from "./options.ts";

/** How a runner's own arguments look; what follows them is the command that it starts. */
export interface RunnerSpec extends OptionSpec {
  /** Operands of its own before the command: `timeout 60 npm test`. */
  readonly operands?: number;
  /** `NAME=value` before the command. */
  readonly assignments?: boolean;
  /** It does nothing of its own that somebody would have to allow. */
  readonly harmless?: boolean;
}

/** They run it elsewhere, as somebody else, or with more than it had. */
export const RUNNERS: { readonly [name: string]: RunnerSpec } = {
  "sudo": {
    flags: "AbEHknPSvVB",
    values: "ughpCDRrtTU",
    longFlags: ["preserve-env", "non-interactive", "set-home", "stdin", "background"],
    longValues: ["user", "group", "host", "prompt", "chdir"],
    assignments: true,
  },
  "doas": { flags: "nL", values: "uCa" },
  "pkexec": { longFlags: ["disable-internal-agent"], longValues: ["user"] },
  "strace": {
    flags: "fFcCdDhiknqrtTvVwxyYzZ",
    values: "abeEIoOpPsSuUX",
    longFlags: ["follow-forks", "summary-only", "summary", "quiet"],
    longValues: ["trace", "output", "signal", "status", "user"],
  },
  "ltrace": { flags: "bcCfhiLrStTV", values: "aAeFlnoDpsuwx" },
  "prlimit": { flags: "", longFlags: ["noheadings", "raw", "verbose"], values: "" },
  "nsenter": {
    flags: "amuinpUCTrFZe",
    values: "tSGW",
    longFlags: [
      "all",
      "preserve-credentials",
      "no-fork",
      "mount",
      "uts",
      "ipc",
      "net",
      "pid",
      "user",
      "cgroup",
      "time",
      "root",
      "wd",
      "follow-context",
    ],
    longValues: ["target", "setuid", "setgid", "wdns"],
  },
  "unshare": {
    flags: "muinpUCTfrc",
    values: "RwSGl",
    longFlags: [
      "mount",
      "uts",
      "ipc",
      "net",
      "pid",
      "user",
      "cgroup",
      "time",
      "fork",
      "map-root-user",
      "map-current-user",
      "map-auto",
      "keep-caps",
    ],
    longValues: ["root", "wd", "setuid", "setgid", "propagation", "map-user", "map-group", "setgroups"],
  },
  "setpriv": {
    flags: "d",
    longFlags: ["clear-groups", "keep-groups", "init-groups", "no-new-privs", "nnp"],
    longValues: [
      "reuid",
      "regid",
      "ruid",
      "euid",
      "rgid",
      "egid",
      "groups",
      "inh-caps",
      "ambient-caps",
      "bounding-set",
      "securebits",
      "pdeathsig",
    ],
  },
  "chroot": { longFlags: ["skip-chdir"], longValues: ["userspec", "groups"], operands: 1 },
  "systemd-run": {
    flags: "dGPqrtS",
    values: "puMHE",
    longFlags: ["user", "system", "scope", "pty", "wait", "pipe", "quiet", "collect", "same-dir"],
    longValues: ["unit", "property", "description", "slice", "uid", "gid", "setenv", "working-directory"],
  },
  "fakeroot": { flags: "uv", values: "lfsib" },
  "valgrind": { flags: "qv", longFlags: ["quiet"], longValues: ["tool", "leak-check"] },
  "dbus-run-session": {},
  "xvfb-run": { flags: "al", values: "enpsw" },
  "torsocks": {},
  "proxychains": { flags: "q", values: "f" },
  "proxychains4": { flags: "q", values: "f" },
  "firejail": { flags: "" },
  "catchsegv": {},
  "rlwrap": { flags: "acnrA", values: "fHs" },
  "caffeinate": { flags: "dimsu", values: "tw" },
  "arch": { flags: "" },
  "toybox": {},
  "busybox": {},
  "npx": {
    flags: "yq",
    values: "pw",
    longFlags: ["yes", "no", "quiet", "no-install", "prefer-offline", "ignore-existing"],
    longValues: ["package", "workspace", "prefix"],
  },
  "bunx": { longFlags: ["bun"] },
  "pnpx": {},
  "uvx": { flags: "q", values: "p", longValues: ["from", "with", "python"] },
  "pipx": { operands: 1 },
  "cross-env": { assignments: true },
  "cross-env-shell": { assignments: true },
  "winpty": {},
};
