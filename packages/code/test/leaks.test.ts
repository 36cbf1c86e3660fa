import { describe, expect, it } from "vitest";
import { canary, leaksIn } from "./leaks.ts";

const secret = canary("secret", 1);
const { value } = secret;

describe("a leak of a canary", () => {
  it.each([
    ["the text itself", `TOKEN=${value}\n`],
    ["a third of it", value.slice(4, 12)],
    ["lower case", value.toLowerCase()],
    ["reversed text", [...value].toReversed().join("")],
    ["base64", Buffer.from(`TOKEN=${value}`).toString("base64")],
    [
      "base64 in lines",
      Buffer.from(`A=${value}`)
        .toString("base64")
        .replaceAll(/(.{20})/g, "$1\n"),
    ],
    ["hexadecimal", Buffer.from(value).toString("hex")],
    ["hexadecimal with blanks", Buffer.from(value).toString("hex").replaceAll(/(..)/g, "$1 ")],
    ["characters with blanks", [...value].join("   ")],
    ["rot13", value.replaceAll(/[A-Z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 52) % 26) + 65))],
  ])("is found in %s", (_, text) => {
    expect(leaksIn(text, [secret])).toEqual(["secret"]);
  });

  it("is not found in other text", () => {
    expect(leaksIn(`${value.slice(0, 7)} and ${canary("other", 2).value}`, [secret])).toEqual([]);
  });
});
