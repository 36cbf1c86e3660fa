import type { EscapeProbe } from "./escape-probe.ts";

/** Attempts to use what outlives a command: the network, /tmp, and the namespaces that hold them. */
export const SESSION_PROBES: readonly EscapeProbe[] = [
  {
    kind: "file",
    name: "a link in /tmp that leads this machine's programs elsewhere",
    script: `ln -sfn "$OUT" "/tmp/$WORLD-$PROBE-link"; nsenter -t "$HOST_PID" -m -- test -L "/tmp/$WORLD-$PROBE-link"; got=$?; rm -f "/tmp/$WORLD-$PROBE-link"; exit $got`,
    root: true,
  },
  {
    kind: "process",
    name: "the descriptors of namespaces through the process that holds them",
    script: `for fd in /proc/[0-9]*/fd/*; do case "$(readlink "$fd")" in net:*|mnt:*|socket:*) [ "$(cut -d/ -f3 <<<"$fd")" -gt 300 ] && exit 0;; esac; done; exit 1`,
  },
  {
    kind: "mount",
    name: "the file system behind /tmp by the path of those that made it",
    script: `ls /sys/kernel/mm >/dev/null 2>&1 || ls -d /sys/kernel/tmp`,
  },
];
