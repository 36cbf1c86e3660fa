import { describe, expect, it } from "vitest";
import { openScreen } from "./open-screen.ts";

function writtenWith(environment: { readonly [name: string]: string }, screenReader?: boolean): string {
  let written = "";
  const screen = openScreen({ write: (text) => void (written += text) }, { environment, screenReader });
  screen.status("working");
  screen.block(["a line"]);
  screen.control("\u001b]2;title\u0007");
  screen.flush();
  return written;
}

describe("openScreen", () => {
  it("opens a screen with a live region", () => {
    expect(writtenWith({ TERM: "xterm-256color" })).toMatch(/\u001b\[\?2026h[\s\S]*a line[\s\S]*working/);
  });

  it("opens a screen that only appends, for a screen reader and for a terminal without a cursor", () => {
    expect(writtenWith({ TERM: "xterm-256color" }, true)).toBe("a line\n\u001b]2;title\u0007working\n");
    expect(writtenWith({ TERM: "dumb" })).toBe("a line\nworking\n");
  });
});
