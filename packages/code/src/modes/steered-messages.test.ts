import type { AgentEvent, Message, RunId } from "@keelson/protocol";
import { expect, it } from "vitest";
import { createSteeredMessages } from "./steered-messages.ts";

const messageOf = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const readingOf = (text: string, path: readonly string[] = []): AgentEvent => ({
  type: "steer",
  runId: "r1" as RunId,
  seq: 1,
  at: 0,
  path,
  message: messageOf(text),
  interrupt: false,
});

it("knows the report of each message that was shown once, and of no other message or run", () => {
  const steered = createSteeredMessages();
  steered.add(messageOf("use npm"));
  steered.add(messageOf("use npm"));
  const shown = ["use npm", "from elsewhere", "use npm", "use npm"].map((text) => steered.isShown(readingOf(text)));
  expect(shown).toEqual([true, false, true, false]);
  steered.add(messageOf("on"));
  expect(steered.isShown(readingOf("on", ["child"]))).toBe(false);
  expect(steered.isShown(readingOf("on"))).toBe(true);
});
