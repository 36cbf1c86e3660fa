/** Turns what a program writes for a terminal into plain text, piece by piece. */
export interface TerminalText {
  /** The text that is settled by now: whole lines. */
  push(text: string): string;
  /** What is left at the end. */
  end(): string;
}

// A line longer than this is passed on in parts: a program may never end one.
const MAX_PENDING_CHARACTERS = 64 * 1024;

// CSI (colours, cursor), OSC and other strings up to their terminator, and escapes of two or three characters.
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]+[0-~]|[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;
// An escape at the very end may go on in the next piece.
// oxlint-disable-next-line no-control-regex
const UNFINISHED_ESCAPE = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\n]*\u001b?|[ -/]*)?$/;
// All but tab, line feed and carriage return.
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Removes escape sequences and control characters; of a line that was overwritten by carriage returns, the last state stays. */
export function createTerminalText(): TerminalText {
  let pending = "";

  const clean = (text: string): string => collapseReturns(text.replace(ESCAPES, "").replace(CONTROLS, ""));

  return {
    push(text) {
      pending += text;
      const end = pending.lastIndexOf("\n") + 1;
      let settled = pending.slice(0, end);
      pending = pending.slice(end);
      if (pending.length > MAX_PENDING_CHARACTERS) {
        const overwritten = pending.lastIndexOf("\r", pending.length - 2);
        if (overwritten !== -1) pending = pending.slice(overwritten + 1);
        if (pending.length > MAX_PENDING_CHARACTERS) {
          const unfinished = UNFINISHED_ESCAPE.exec(pending.slice(-100));
          const whole = pending.length - (unfinished === null ? 0 : unfinished[0].length);
          settled += pending.slice(0, whole);
          pending = pending.slice(whole);
        }
      }
      return settled === "" ? "" : clean(settled);
    },
    end() {
      const rest = pending.replace(UNFINISHED_ESCAPE, "");
      pending = "";
      return clean(rest);
    },
  };
}

function collapseReturns(text: string): string {
  if (!text.includes("\r")) return text;
  return text.replace(/\r+(?=\n|$)/g, "").replace(/^[^\n]*\r/gm, "");
}
