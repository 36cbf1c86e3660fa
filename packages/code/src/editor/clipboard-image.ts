import { execFile } from "node:child_process";
import { getNativeClipboard } from "@earendil-works/pi-tui";

export interface ClipboardOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** Runs a program. @returns its output; `undefined` if it does not exist or fails */
  readonly run?: (program: string, args: readonly string[]) => Promise<Buffer | undefined>;
  /** The clipboard of the system: `null` if it has no image, `undefined` if it cannot be read. */
  readonly native?: () => Promise<Uint8Array | null | undefined>;
}

/** Programs that read the clipboard, by what they need. */
interface Reader {
  readonly program: string;
  isUsable(environment: ClipboardOptions["environment"]): boolean;
  /** Lists the types of what the clipboard holds. Absent: the program makes a PNG of any image. */
  readonly list?: readonly string[];
  read(type: string): readonly string[];
  readonly isBase64?: true;
}

const TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const TIMEOUT_MS = 5_000;
const MAX_OUTPUT = 64 * 1024 * 1024;
const POWERSHELL =
  "Add-Type -AssemblyName System.Windows.Forms,System.Drawing; $i=[System.Windows.Forms.Clipboard]::GetImage(); if ($i) { $m=New-Object System.IO.MemoryStream; $i.Save($m,[System.Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }";

const READERS: readonly Reader[] = [
  {
    program: "wl-paste",
    isUsable: (environment) => environment["WAYLAND_DISPLAY"] !== undefined,
    list: ["--list-types"],
    read: (type) => ["--no-newline", "--type", type],
  },
  {
    program: "xclip",
    isUsable: (environment) => environment["DISPLAY"] !== undefined,
    list: ["-selection", "clipboard", "-t", "TARGETS", "-o"],
    read: (type) => ["-selection", "clipboard", "-t", type, "-o"],
  },
  {
    program: "powershell.exe",
    isUsable: (environment) => environment["WSL_DISTRO_NAME"] !== undefined,
    read: () => ["-NoProfile", "-Sta", "-Command", POWERSHELL],
    isBase64: true,
  },
];

/** Reads an image from the clipboard. @throws Error that says what is missing */
export async function readClipboardImage({ environment, run = runProgram, native = readNative }: ClipboardOptions): Promise<Uint8Array> {
  const own = await native().catch(() => undefined);
  if (own !== undefined && own !== null && own.byteLength > 0) return own;
  let isReadable = own === null;
  for (const reader of READERS.filter(({ isUsable }) => isUsable(environment))) {
    const found = await readWith(reader, run);
    if (found === undefined) continue;
    isReadable = true;
    if (found.byteLength > 0) return found;
  }
  throw new Error(
    isReadable
      ? "The clipboard has no image. Copy one, or name its file: @picture.png."
      : "The clipboard cannot be read here: it needs wl-paste (Wayland), xclip (X11), macOS or Windows. Name the file of the image instead: @picture.png.",
  );
}

/** @returns no bytes if the clipboard has no image; `undefined` if the program does not work here */
async function readWith({ program, list, read, isBase64 }: Reader, run: NonNullable<ClipboardOptions["run"]>): Promise<Buffer | undefined> {
  let type = "image/png";
  if (list !== undefined) {
    const listed = await run(program, list);
    if (listed === undefined) return undefined;
    const offered = new Set(listed.toString("utf8").split(/\s+/));
    const best = TYPES.find((one) => offered.has(one));
    if (best === undefined) return Buffer.alloc(0);
    type = best;
  }
  const output = await run(program, read(type));
  return output !== undefined && isBase64 === true ? Buffer.from(output.toString("latin1"), "base64") : output;
}

async function readNative(): Promise<Uint8Array | null | undefined> {
  return getNativeClipboard()?.getImage();
}

function runProgram(program: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    execFile(program, [...args], { encoding: "buffer", timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
}
