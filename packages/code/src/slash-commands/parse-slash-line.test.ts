import { describe, expect, it } from "vitest";
import { parseSlashLine } from "./parse-slash-line.ts";

describe("parseSlashLine", () => {
  it("reads a name and the text behind it, over several lines", () => {
    expect(parseSlashLine("/help")).toEqual({ name: "help", argument: "" });
    expect(parseSlashLine("/model  a/b ")).toEqual({ name: "model", argument: "a/b" });
    expect(parseSlashLine("/web:fix one\ntwo")).toEqual({ name: "web:fix", argument: "one\ntwo" });
    expect(parseSlashLine("/undo\n")).toEqual({ name: "undo", argument: "" });
  });

  it("takes a line that begins with a path, a comment or a blank for a message", () => {
    for (const line of ["/etc/hosts is wrong", "/", "// why is this commented out", " /help", "/* a */", "/usr/bin", "help", ""])
      expect(parseSlashLine(line), line).toBeUndefined();
  });
});
