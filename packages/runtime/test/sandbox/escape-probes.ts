import type { EscapeProbe } from "./escape-probe.ts";
import { HOOK_PROBES } from "./hook-probes.ts";
import { SECRET_PROBES } from "./secret-probes.ts";

/** A system call by its number on x86-64; ends with 0 unless the call is not permitted or not there. */
const call = (number: number, ...values: readonly string[]): string =>
  `perl -e '$r = syscall(${[number, ...values].join(", ")}); exit 0 if $r >= 0; exit($!{EPERM} || $!{ENOSYS} || $!{EACCES} ? 1 : 0)'`;
const socket = (family: number, type: number, protocol: number): string =>
  `perl -e 'exit(syscall(41, ${family}, ${type}, ${protocol}) >= 0 ? 0 : 1)'`;
const x64 = '[ "$(uname -m)" = x86_64 ]';

export const ESCAPE_PROBES: readonly EscapeProbe[] = [
  { kind: "file", name: "write a new file outside", script: 'echo x > "$OUT/new-$PROBE"' },
  { kind: "file", name: "append to a file outside", script: 'echo x >> "$OUT/file"' },
  { kind: "file", name: "truncate a file outside", script: ': > "$OUT/truncated"' },
  { kind: "file", name: "write through a symbolic link", script: 'ln -s "$OUT" "link-$PROBE" && echo x > "link-$PROBE/through-link"' },
  { kind: "file", name: "write through a relative path", script: 'echo x > "../outside/relative"' },
  { kind: "file", name: "write through /proc/self/root", script: 'echo x > "/proc/self/root$OUT/self-root"' },
  { kind: "file", name: "write through the root of another process", script: 'echo x > "/proc/$PPID/root$OUT/other-root"', root: true },
  { kind: "file", name: "write through /proc/self/cwd of another folder", script: 'cd "$OUT" && echo x > /proc/self/cwd/cwd' },
  { kind: "file", name: "delete a file outside", script: 'rm -f "$OUT/deleted"; [ ! -e "$OUT/deleted" ]' },
  { kind: "file", name: "rename a file outside", script: 'mv "$OUT/renamed" "$OUT/renamed-$PROBE"' },
  { kind: "file", name: "take a file outside by renaming it here", script: 'mv "$OUT/taken" .' },
  { kind: "file", name: "link a file outside and write to it", script: 'ln "$OUT/file" "hard-$PROBE" && echo x >> "hard-$PROBE"' },
  { kind: "file", name: "change the mode of a file outside", script: 'chmod 777 "$OUT/file"' },
  { kind: "file", name: "change the time of a file outside", script: 'touch -d 2001-01-01 "$OUT/file"' },
  {
    kind: "file",
    name: "set an attribute of a file outside",
    script: 'perl -e \'($f, $n, $v) = ("$ENV{OUT}/file", "user.probe", "x"); exit(syscall(188, $f, $n, $v, 1, 0) == 0 ? 0 : 1)\'',
    where: x64,
  },
  { kind: "file", name: "read a denied file", script: 'grep -q canary "$SECRET"' },
  {
    kind: "file",
    name: "read a denied file through a symbolic link",
    script: 'ln -s "$SECRET" "secret-$PROBE" && grep -q canary "secret-$PROBE"',
  },
  { kind: "file", name: "read a denied file through /proc/self/root", script: 'grep -q canary "/proc/self/root$SECRET"' },
  {
    kind: "file",
    name: "read a denied file through the root of another process",
    script: 'grep -q canary "/proc/$PPID/root$SECRET"',
    root: true,
  },
  { kind: "file", name: "copy a denied file", script: 'cp "$SECRET" "copy-$PROBE" && grep -q canary "copy-$PROBE"' },
  { kind: "file", name: "link a denied file", script: 'ln "$SECRET" "hardsecret-$PROBE" && grep -q canary "hardsecret-$PROBE"' },
  { kind: "file", name: "read a denied folder of the workspace", script: "grep -q canary denied/key" },
  { kind: "file", name: "list a denied folder", script: '[ -n "$(ls denied)" ]' },
  { kind: "file", name: "move a denied folder aside", script: "mv denied/key denied/key2 && mv denied/key2 denied/key" },
  { kind: "file", name: "move the folder above a denied one", script: "mv deep deep2 && grep -q canary deep2/er/key && mv deep2 deep" },
  { kind: "file", name: "put something at a denied path that is not there yet", script: "mkdir -p not-yet && echo x > not-yet/x" },
  { kind: "file", name: "see temporary files of others", script: 'grep -q canary "$HOST_TMP"' },
  { kind: "file", name: "see shared memory of others", script: 'grep -q canary "$HOST_SHM"' },
  { kind: "file", name: "leave a file in /tmp", script: 'echo x > "/tmp/$WORLD-left" && [ -e "$HOST_TMP" ]' },
  { kind: "file", name: "make a device", script: 'mknod "device-$PROBE" c 1 3 && [ -c "device-$PROBE" ]', root: true },
  {
    kind: "file",
    name: "replace the program that runs the sandbox",
    script: "perl -e 'open(F, \"+<\", $ENV{HOST_NODE}) or exit 1'",
    root: true,
    // A program that runs can be written by nobody.
    where: '! ls -l /proc/[0-9]*/exe 2>/dev/null | grep -qF "$HOST_NODE"',
  },
  {
    kind: "file",
    name: "make a set-user-id program",
    script: 'cp /bin/true "suid-$PROBE" && chmod u+s "suid-$PROBE" && [ -u "suid-$PROBE" ]',
  },
  {
    kind: "file",
    name: "make a set-user-id program from the start",
    script: "perl -e '$f = \"suid2-$ENV{PROBE}\"; umask 0; exit(syscall(2, $f, 0101, 04755) >= 0 && -u $f ? 0 : 1)'",
    where: x64,
  },
  {
    kind: "file",
    name: "make a set-user-id program with the newest calls",
    script: 'f="suid3-$PROBE"; : > "$f"; perl -e \'exit(syscall(452, -100, $ARGV[0], 04755, 0) == 0 && -u $ARGV[0] ? 0 : 1)\' "$f"',
    where: `${x64} && perl -e '$d = "/tmp"; exit(syscall(452, -100, $d, 01777, 0) == 0 ? 0 : 1)'`,
    root: true,
  },
  { kind: "file", name: "write a protected folder through the pin of what is denied in it", script: 'echo x > ".claude/private/$PROBE"' },
  {
    kind: "file",
    name: "read the keys of another user",
    script: 'grep -q canary "$OTHER_HOME_KEY"',
    root: true,
    where: '[ -n "$OTHER_HOME_KEY" ]',
  },
  { kind: "file", name: "read the passwords of the system", script: "grep -q root /etc/shadow", root: true },

  { kind: "environment", name: "see a variable", script: '[ -n "$PROBE_CANARY" ]' },
  {
    kind: "environment",
    name: "see variables of the first process",
    script: "tr '\\0' '\\n' < /proc/1/environ | grep -q .",
    root: true,
    where: "[ -s /proc/1/environ ]",
  },
  { kind: "environment", name: "see variables of the parent", script: "tr '\\0' '\\n' < /proc/$PPID/environ | grep -q canary" },
  {
    kind: "environment",
    name: "see variables of any process",
    script: "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q canary-$WORLD",
  },
  {
    kind: "environment",
    name: "see arguments of any process",
    // The brackets keep it from finding its own argument.
    script: "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -qx \"[a]${HOST_ARGUMENT#a}\"",
  },
  { kind: "environment", name: "see the name of the machine", script: '[ "$(uname -n)" = "$HOST_NAME" ]' },

  { kind: "process", name: "signal a process outside", script: 'kill -0 "$HOST_PID"' },
  { kind: "process", name: "signal every process", script: 'kill -0 -1 && kill -0 "$HOST_PID"' },
  { kind: "process", name: "look into a process outside", script: 'ls "/proc/$HOST_PID/fd" >/dev/null' },
  { kind: "process", name: "read the memory of a process outside", script: 'head -c1 < "/proc/$HOST_PID/maps" >/dev/null' },
  {
    kind: "process",
    name: "trace a process outside",
    script: `perl -e 'exit(syscall(101, 16, $ENV{HOST_PID}+0, 0, 0) == 0 ? 0 : 1)'`,
    where: x64,
  },
  { kind: "process", name: "trace a process of its own", script: "perl -e 'exit(syscall(101, 0, 0, 0, 0) == 0 ? 0 : 1)'", where: x64 },
  {
    kind: "process",
    name: "write to the memory of the sandbox's first process",
    script: 'perl -e \'open(F, "+<", $ENV{HOST_PID} && -d "/proc/$ENV{HOST_PID}" ? "/proc/$ENV{HOST_PID}/mem" : "/proc/1/mem") or exit 1\'',
  },
  { kind: "process", name: "change the priority of a process outside", script: 'renice -n 19 -p "$HOST_PID" >/dev/null' },
  { kind: "process", name: "set limits of a process outside", script: 'prlimit --pid "$HOST_PID" --core=0' },
  { kind: "process", name: "get privileges back", script: "perl -e 'exit(syscall(157, 39, 0, 0, 0, 0) == 0 ? 0 : 1)'", where: x64 },
  { kind: "process", name: "have capabilities", script: "! grep -q '^CapEff:.0*$' /proc/self/status", root: true },
  { kind: "process", name: "have capabilities in a new user namespace", script: "unshare -Ur true" },
  { kind: "process", name: "enter the namespaces of a process outside", script: 'nsenter -t "$HOST_PID" -m true', root: true },

  {
    kind: "network",
    name: "connect to a server on loopback",
    script: 'exec 3<>/dev/tcp/127.0.0.1/$HOST_PORT && read -r -u 3 -t 2 line && [ "$line" = canary ]',
  },
  {
    kind: "network",
    name: "connect to loopback in decimal",
    script: 'exec 3<>/dev/tcp/2130706433/$HOST_PORT && read -r -u 3 -t 2 line && [ "$line" = canary ]',
  },
  {
    kind: "network",
    name: "connect to loopback in hexadecimal",
    script: 'exec 3<>/dev/tcp/0x7f.1/$HOST_PORT && read -r -u 3 -t 2 line && [ "$line" = canary ]',
  },
  {
    kind: "network",
    name: "connect to the unspecified address",
    script: 'exec 3<>/dev/tcp/0.0.0.0/$HOST_PORT && read -r -u 3 -t 2 line && [ "$line" = canary ]',
  },
  {
    kind: "network",
    name: "connect to loopback as IPv4 within IPv6",
    script: 'exec 3<>/dev/tcp/::ffff:127.0.0.1/$HOST_PORT && read -r -u 3 -t 2 line && [ "$line" = canary ]',
  },
  {
    kind: "network",
    name: "connect to this machine by its name",
    script: 'exec 3<>/dev/tcp/localhost/$HOST_PORT && read -r -u 3 -t 2 line && [ "$line" = canary ]',
  },
  {
    kind: "network",
    name: "send a datagram to loopback",
    script: 'exec 3<>/dev/udp/127.0.0.1/$HOST_UDP && echo x >&3 && [ "$(timeout 2 head -c 6 <&3)" = canary ]',
  },
  { kind: "network", name: "see connections of the machine", script: 'grep -qi ":$(printf %04X $HOST_PORT) " /proc/net/tcp6' },
  { kind: "network", name: "open a raw socket", script: socket(2, 3, 1), root: true, where: x64 },
  { kind: "network", name: "open a packet socket", script: socket(17, 3, 768), root: true, where: x64 },
  { kind: "network", name: "open a socket to the hypervisor", script: socket(40, 1, 0), where: `${x64} && ${socket(40, 1, 0)}` },
  { kind: "network", name: "open a socket to the kernel's ciphers", script: socket(38, 5, 0), where: `${x64} && ${socket(38, 5, 0)}` },

  {
    kind: "socket",
    name: "connect to an abstract Unix socket",
    script: "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => \"\\0$ENV{HOST_ABSTRACT}\") or exit 1'",
  },
  {
    kind: "socket",
    name: "connect to a Unix socket outside",
    script: "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => $ENV{HOST_SOCKET}) or exit 1'",
  },
  {
    kind: "socket",
    name: "connect to a Unix socket of others in the workspace",
    script: "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => \"server.sock\") or exit 1'",
  },
  {
    kind: "socket",
    name: "connect to a Unix socket that was named from its folder",
    script: "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => \"relative.sock\") or exit 1'",
  },
  {
    kind: "socket",
    name: "connect to a Unix socket through a link",
    script:
      'ln -s "$HOST_SOCKET" "sock-$PROBE" && perl -MIO::Socket::UNIX -e \'IO::Socket::UNIX->new(Peer => "sock-$ENV{PROBE}") or exit 1\'',
  },
  { kind: "socket", name: "see Unix sockets of the machine", script: 'grep -qF "$HOST_SOCKET" /proc/net/unix' },
  { kind: "socket", name: "see System V shared memory", script: 'ipcs -m | grep -qw "$HOST_IPC"' },
  { kind: "socket", name: "remove System V shared memory", script: 'ipcrm -M "$HOST_IPC_REMOVED"' },

  { kind: "mount", name: "mount something", script: "unshare -Urm mount -t tmpfs probe /mnt" },
  { kind: "mount", name: "mount over what is read-only", script: 'unshare -Urm mount --bind "$WS" "$OUT"' },
  {
    kind: "mount",
    name: "mount a writable layer",
    script:
      'mkdir -p "up-$PROBE" "work-$PROBE" && unshare -Urm mount -t overlay probe -o "lowerdir=$OUT,upperdir=up-$PROBE,workdir=work-$PROBE" /mnt',
    where: "grep -q overlay /proc/filesystems",
  },
  {
    kind: "mount",
    name: "make what is read-only writable",
    script: 'unshare -m sh -c \'mount --bind "$OUT" "$OUT" && mount -o remount,bind,rw "$OUT" && echo x > "$OUT/remounted"\'',
    root: true,
  },
  {
    kind: "mount",
    name: "take away what hides a folder",
    script: "unshare -m sh -c 'mount -t tmpfs probe /mnt && umount /mnt && grep -q canary denied/key'",
    root: true,
  },
  { kind: "mount", name: "get another /proc", script: "unshare -Urpf --mount-proc true" },
  { kind: "mount", name: "change the root", script: "chroot / true", root: true },
  { kind: "mount", name: "use the new calls for mounts", script: call(430, '$t = "tmpfs"', "0"), root: true, where: x64 },
  { kind: "mount", name: "open a file by its handle", script: call(304, "-1", "0", "0"), root: true, where: x64 },

  {
    kind: "kernel",
    name: "set what handles core dumps",
    script: 'perl -e \'open(F, "+<", "/proc/sys/kernel/core_pattern") or exit 1\'',
    root: true,
  },
  {
    kind: "kernel",
    name: "set other settings of the kernel",
    script: 'perl -e \'open(F, "+<", "/proc/sys/vm/overcommit_memory") or exit 1\'',
    root: true,
  },
  {
    kind: "kernel",
    name: "set the name of the machine",
    script: "perl -e '$n = `uname -n`; chomp $n; exit(syscall(170, $n, length $n) == 0 ? 0 : 1)'",
    root: true,
    where: x64,
  },
  {
    kind: "kernel",
    name: "write to /sys",
    script:
      'f=$(find /sys/kernel /sys/module -maxdepth 3 -type f -perm -200 2>/dev/null | head -1); perl -e \'open(F, ">>", $ARGV[0]) or exit 1\' "$f"',
    root: true,
  },
  {
    kind: "kernel",
    name: "make a control group",
    script: 'g=/sys/fs/cgroup; [ -d $g/pids ] && g=$g/pids; mkdir "$g/$WORLD-$PROBE" && rmdir "$g/$WORLD-$PROBE"',
    root: true,
    where: 'g=/sys/fs/cgroup; [ -d $g/pids ] && g=$g/pids; mkdir "$g/$WORLD-try" && rmdir "$g/$WORLD-try"',
  },
  { kind: "kernel", name: "read the log of the kernel", script: call(103, "10", "0", "0"), root: true, where: x64 },
  { kind: "kernel", name: "read the keys of the user", script: "[ -s /proc/keys ]", where: "[ -s /proc/keys ]" },
  {
    kind: "kernel",
    name: "add a key to a keyring",
    script: `perl -e '($t, $n, $v) = ("user", "probe", "x"); exit(syscall(248, $t, $n, $v, 1, -2) >= 0 ? 0 : 1)'`,
    where: x64,
  },
  { kind: "kernel", name: "find a keyring of the session", script: call(250, "0", "-3", "0"), where: x64 },
  { kind: "kernel", name: "use bpf", script: call(321, "0", "0", "0"), root: true, where: x64 },
  { kind: "kernel", name: "use performance events", script: call(298, "0", "0", "-1", "-1", "0"), root: true, where: x64 },
  { kind: "kernel", name: "use io_uring", script: call(425, "0", "0"), where: `${x64} && ${call(425, "0", "0")}` },
  { kind: "kernel", name: "handle faults of memory", script: call(323, "0"), root: true, where: `${x64} && ${call(323, "0")}` },
  {
    kind: "kernel",
    name: "type into a terminal",
    script: typeIntoTerminal(),
    where: '[ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ]',
  },
  {
    kind: "kernel",
    name: "open devices of the machine",
    script: '[ -e /dev/kmsg ] || [ -e /dev/mem ] || [ -e /dev/fuse ] || [ -n "$(find /dev -maxdepth 1 -type b)" ]',
  },

  ...HOOK_PROBES,
  ...SECRET_PROBES,

  {
    kind: "resource",
    name: "start more processes",
    script: "perl -e 'for (1 .. 120) { $p = fork // last; $p or do { sleep 60; exit }; push @p, $p } kill 9, @p; exit(@p == 120 ? 0 : 1)'",
  },
  { kind: "resource", name: "use more memory", script: "perl -e '$x = \"x\" x (512 << 20); exit(length $x == 512 << 20 ? 0 : 1)'" },
  { kind: "resource", name: "write a larger file", script: 'truncate -s 64M "large-$PROBE"' },
  { kind: "resource", name: "open more files", script: 'perl -e \'for (1 .. 400) { open($f[$_], "<", "/dev/null") or exit 1 }\'' },
  {
    kind: "resource",
    name: "fill /tmp",
    script: 'd=$(mktemp -d) && for i in 1 2 3; do head -c 8M /dev/zero > "$d/$i" || { rm -rf "$d"; exit 1; }; done; rm -rf "$d"',
  },
  {
    kind: "resource",
    name: "fill shared memory",
    script: 'for i in 1 2 3; do head -c 8M /dev/zero > "/dev/shm/$WORLD-$i" || exit 1; done; rm -f /dev/shm/$WORLD-[123]',
  },
  {
    kind: "resource",
    name: "use more memory in many processes",
    script: `perl -e 'pipe(R, W); for (1 .. 4) { $p = fork // exit 1; $p or do { $x = "x" x (96 << 20); syswrite(W, "1"); sleep 60; exit }; push @p, $p } close W; $SIG{CHLD} = sub { kill 9, @p; exit 1 }; $n = 0; while ($n < 4) { sysread(R, $b, 1) and $n++ } $SIG{CHLD} = "DEFAULT"; kill 9, @p; exit 0'`,
    where: '[ -n "$MEMORY_GROUP" ]',
  },
  {
    kind: "resource",
    name: "be dumped to whoever takes dumps",
    script: '[ "$(prlimit --pid $$ --core --raw --noheadings -o SOFT)" != 1 ]',
  },
  { kind: "resource", name: "raise its limits", script: "prlimit --pid $$ --core=unlimited:unlimited" },
];

/** A terminal of its own, which the script owns, so that nobody's is typed into. */
function typeIntoTerminal(): string {
  return `perl -MPOSIX -e 'open(M, "+<", "/dev/ptmx") or exit 2; $p = pack("i", 0); ioctl(M, 0x40045431, $p) or exit 2; ioctl(M, 0x80045430, $p) or exit 2; $n = unpack("i", $p); exit(fork ? (wait, $? >> 8)[1] : do { POSIX::setsid(); open(S, "+<", "/dev/pts/$n") or POSIX::_exit(2); ($x = "x", ioctl(S, 0x5412, $x))[1] ? POSIX::_exit(0) : POSIX::_exit(1) })'`;
}
