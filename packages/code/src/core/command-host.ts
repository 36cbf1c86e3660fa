import type { ReadStream, WriteStream } from "node:tty";
import type { Readable, Writable } from "node:stream";

export type InputStream = Readable & Partial<Pick<ReadStream, "isTTY">> & { setRawMode?(isRaw: boolean): unknown };
export type OutputStream = Writable & Partial<Pick<WriteStream, "isTTY" | "columns" | "rows">>;

/** The process as the command sees it; tests give their own. */
export interface CommandHost {
  readonly environment: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly signals: {
    on(signal: "SIGINT" | "SIGTERM" | "SIGHUP", listener: () => void): unknown;
    off(signal: "SIGINT" | "SIGTERM" | "SIGHUP", listener: () => void): unknown;
  };
  /** How the person calls this program, for commands that are printed. */
  readonly command: string;
  readonly version: string;
  /** Unix ms. */
  now(): number;
  /** Ends the process now. */
  exit(code: number): void;
}
