import { endianness } from "node:os";

// System calls that no program of a project needs, each a way around the namespaces: kernel keyrings, which no namespace divides;
// io_uring, whose operations no filter sees; tracing, by which the sandbox's own first process could be made to act; mounts and
// namespaces; the kernel's own settings. Numbers from the kernel's tables.
const DENIED: { readonly [name: string]: { readonly x64: number; readonly arm64?: number } } = {
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  kcmp: { x64: 312, arm64: 272 },
  keyctl: { x64: 250, arm64: 219 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  io_uring_setup: { x64: 425, arm64: 425 },
  io_uring_enter: { x64: 426, arm64: 426 },
  io_uring_register: { x64: 427, arm64: 427 },
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  chroot: { x64: 161, arm64: 51 },
  setns: { x64: 308, arm64: 268 },
  unshare: { x64: 272, arm64: 97 },
  move_mount: { x64: 429, arm64: 429 },
  fsopen: { x64: 430, arm64: 430 },
  fsconfig: { x64: 431, arm64: 431 },
  fsmount: { x64: 432, arm64: 432 },
  fspick: { x64: 433, arm64: 433 },
  open_tree: { x64: 428, arm64: 428 },
  mount_setattr: { x64: 442, arm64: 442 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  name_to_handle_at: { x64: 303, arm64: 264 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  reboot: { x64: 169, arm64: 142 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: { x64: 443, arm64: 443 },
  acct: { x64: 163, arm64: 89 },
  syslog: { x64: 103, arm64: 116 },
  settimeofday: { x64: 164, arm64: 170 },
  clock_settime: { x64: 227, arm64: 112 },
  adjtimex: { x64: 159, arm64: 171 },
  clock_adjtime: { x64: 305, arm64: 266 },
  iopl: { x64: 172 },
  ioperm: { x64: 173 },
  modify_ldt: { x64: 154 },
  sethostname: { x64: 170, arm64: 161 },
  setdomainname: { x64: 171, arm64: 162 },
  vhangup: { x64: 153, arm64: 58 },
  fanotify_init: { x64: 300, arm64: 262 },
  lookup_dcookie: { x64: 212, arm64: 18 },
  move_pages: { x64: 279, arm64: 239 },
  uselib: { x64: 134 },
};
const PROCESSORS = {
  x64: { architecture: 0xc000003e, socket: 41, ioctl: 16, clone3: 435, openat2: 437 },
  arm64: { architecture: 0xc00000b7, socket: 198, ioctl: 29, clone3: 435, openat2: 437 },
} as const;

// Calls that give a file its mode, the place of the mode among their arguments, and for those that need not make a file, that of their
// flags. A set-user-id file in the workspace would give whoever runs it outside the rights of this user.
const MODES: {
  readonly [name: string]: { readonly x64?: number; readonly arm64?: number; readonly mode: number; readonly flags?: number };
} = {
  chmod: { x64: 90, mode: 1 },
  fchmod: { x64: 91, arm64: 52, mode: 1 },
  fchmodat: { x64: 268, arm64: 53, mode: 2 },
  fchmodat2: { x64: 452, arm64: 452, mode: 2 },
  creat: { x64: 85, mode: 1 },
  mknod: { x64: 133, mode: 1 },
  mknodat: { x64: 259, arm64: 33, mode: 2 },
  open: { x64: 2, mode: 2, flags: 1 },
  openat: { x64: 257, arm64: 56, mode: 3, flags: 2 },
};
const SET_USER_ID = 0o4000;
// O_CREAT, and what O_TMPFILE has of its own.
const MAKES_FILE = 0o100 | 0o20000000;

// Unix, IPv4, IPv6 and routing sockets are divided by the network namespace or by the file system; others, such as those to the
// machine's hypervisor (AF_VSOCK), are not.
const SOCKET_FAMILIES = [1, 2, 10, 16];
// They put what is typed into a terminal.
const TERMINAL_REQUESTS = [0x5412, 0x541c];

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const failWith = (error: number): number => 0x00050000 | error;

// linux/bpf_common.h: load a word, jump if equal, if greater or equal, if any bit is set, return.
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;
// struct seccomp_data: number, architecture, instruction pointer, then arguments of 8 bytes, whose lower half comes first.
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const argumentAt = (index: number): number => 16 + index * 8;
// Numbers above it are those of the x32 interface, for the same calls.
const X32_NUMBERS = 0x40000000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The filter of system calls for this machine, as `bwrap --seccomp` reads it; `undefined` for a kind of processor it isn't known for. */
export function createSeccompFilter(processor: string = process.arch): Buffer | undefined {
  if ((processor !== "x64" && processor !== "arm64") || endianness() !== "LE") return undefined;
  const { architecture, socket, ioctl, clone3, openat2 } = PROCESSORS[processor];
  const numbers = Object.values(DENIED).flatMap((call) => call[processor] ?? []);
  const fail = (error: number): Instruction => [RETURN, 0, 0, failWith(error)];
  const allow: Instruction = [RETURN, 0, 0, ALLOW];
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [IF_EQUAL, 1, 0, architecture],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER_AT],
    [IF_AT_LEAST, 0, 1, X32_NUMBERS],
    fail(EPERM),
    // What they are told stands in memory, where a filter can't look; without them programs use clone and openat.
    [IF_EQUAL, 0, 1, clone3],
    fail(ENOSYS),
    [IF_EQUAL, 0, 1, openat2],
    fail(ENOSYS),
    ...numbers.flatMap((number): Instruction[] => [[IF_EQUAL, 0, 1, number], fail(EPERM)]),
    ...Object.values(MODES).flatMap(({ mode, flags, ...numberOn }): Instruction[] => {
      const number = numberOn[processor];
      if (number === undefined) return [];
      const judge: Instruction[] = [[LOAD, 0, 0, argumentAt(mode)], [IF_ANY_BIT, 0, 1, SET_USER_ID], fail(EPERM), allow];
      if (flags === undefined) return [[IF_EQUAL, 0, judge.length, number], ...judge];
      // Where no file is made, nobody has set the mode.
      return [
        [IF_EQUAL, 0, judge.length + 2, number],
        [LOAD, 0, 0, argumentAt(flags)],
        [IF_ANY_BIT, 0, judge.length - 1, MAKES_FILE],
        ...judge,
      ];
    }),
    [IF_EQUAL, 0, SOCKET_FAMILIES.length + 3, socket],
    [LOAD, 0, 0, argumentAt(0)],
    ...SOCKET_FAMILIES.map((family, index): Instruction => [IF_EQUAL, SOCKET_FAMILIES.length - index, 0, family]),
    fail(EAFNOSUPPORT),
    allow,
    [IF_EQUAL, 0, TERMINAL_REQUESTS.length + 3, ioctl],
    [LOAD, 0, 0, argumentAt(1)],
    ...TERMINAL_REQUESTS.map((request, index): Instruction => [IF_EQUAL, TERMINAL_REQUESTS.length - index, 0, request]),
    allow,
    fail(EPERM),
    allow,
  ];
  return encode(program);
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
