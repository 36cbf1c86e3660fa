import type { CommandHost } from "../core/command-host.ts";
import type { ListedSession } from "../core/listed-session.ts";
import { createSessionPicker } from "../pickers/session-picker.ts";
import { userHome } from "../settings/settings-places.ts";
import { openScreen } from "../terminal/open-screen.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { createPicking } from "./picking.ts";
import { createTerminalInput } from "./terminal-input.ts";

export interface PickSessionOptions {
  /** The folder whose sessions are shown first. */
  readonly folder: string;
  readonly sessions: readonly ListedSession[];
  /** Reads the sessions of every folder. */
  everywhere(): Promise<readonly ListedSession[]>;
}

/** Has a person at a terminal choose one of these sessions from a list. @returns `undefined` when they leave without choosing */
export async function pickSession(
  { folder, sessions, everywhere }: PickSessionOptions,
  { stdin, stdout, environment, now }: Pick<CommandHost, "stdin" | "stdout" | "environment" | "now">,
): Promise<string | undefined> {
  const style = createStyle(wantsColors(stdout, environment));
  const screen = openScreen(stdout, { environment });
  // Only a list is shown, so every key is lent to it.
  const keys = createTerminalInput({
    input: stdin,
    history: [],
    onChange() {},
    onMessage() {},
    onAnswer() {},
    onInterrupt() {},
    onEscape() {},
    onEnd: () => picking.leave(),
  });
  const picking = createPicking({ screen, style, keys });
  try {
    return await picking.choose<string>((opened) =>
      createSessionPicker({ ...opened, folder, sessions, everywhere, userHome: userHome(environment), now }),
    );
  } finally {
    keys.close();
    screen.close();
  }
}
