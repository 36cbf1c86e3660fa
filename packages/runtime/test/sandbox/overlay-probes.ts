import type { EscapeProbe } from "./escape-probe.ts";

/** Attempts in an overlay of the workspace whose store has another overlay of it. */
export const OVERLAY_PROBES: readonly EscapeProbe[] = [
  { kind: "file", name: "write to the store of overlays", script: 'echo x > "$STORE/new-$PROBE"' },
  { kind: "file", name: "list the store of overlays", script: '[ -n "$(ls "$STORE")" ]' },
  { kind: "file", name: "read what another overlay changed", script: 'grep -rq canary "$STORE/other"' },
  { kind: "file", name: "read what another overlay changed through /proc", script: 'grep -rq canary "/proc/self/root$STORE/other"' },
  {
    kind: "file",
    name: "read the store through a descriptor of another process",
    script: 'for f in /proc/[0-9]*/fd/* /proc/[0-9]*/cwd /proc/[0-9]*/root; do [ -e "$f/$STORE/other" ] && exit 0; done; exit 1',
    root: true,
  },
  { kind: "file", name: "change what another overlay changed", script: 'echo x >> "$STORE/other/layer-0/upper/theirs.txt"' },
  {
    kind: "mount",
    name: "mount an overlay of its own over the base",
    script:
      'd=$(mktemp -d) && unshare -Urm mount -t overlay probe -o "lowerdir=$WS,upperdir=$STORE/upper,workdir=$STORE/work,userxattr" "$d"',
    where: 'mkdir -p "$STORE/upper" "$STORE/work"',
  },
];
