import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";

/** True if tmux is installed. */
export const hasTmux: boolean = ((): boolean => {
  try {
    execFileSync("tmux", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** A program in a terminal of tmux that no person is attached to. */
export interface TmuxTerminal extends AsyncDisposable {
  type(keys: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Returns all rows since the start, without empty rows. */
  rows(): Promise<readonly string[]>;
}

export async function openTmux(
  program: readonly string[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): Promise<TmuxTerminal> {
  // A server of its own, without the settings of the user.
  const server = ["-L", `keelson-test-${process.pid}-${columns}-${rows}`, "-f", "/dev/null"];
  const tmux = async (...args: readonly string[]): Promise<string> => (await promisify(execFile)("tmux", [...server, ...args])).stdout;
  await tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), ...program);
  await tmux("set-option", "-g", "window-size", "manual");
  return {
    type: async (keys) => void (await tmux("send-keys", keys)),
    resize: async (width, height) => void (await tmux("resize-window", "-x", String(width), "-y", String(height))),
    rows: async () => (await tmux("capture-pane", "-p", "-S", "-")).split("\n").filter((row) => row !== ""),
    async [Symbol.asyncDispose]() {
      await tmux("kill-server");
    },
  };
}
