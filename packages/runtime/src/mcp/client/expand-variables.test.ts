import { McpError } from "@keelson/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { expandVariables, variablesIn } from "./expand-variables.ts";

const variables = { HOST: "example.com", EMPTY: "", NESTED: "${HOST}" };

it("puts variables and defaults into texts", () => {
  expect(expandVariables("https://${HOST}/${PATH_OF:-mcp}", variables, "x")).toBe("https://example.com/mcp");
  expect(expandVariables("${EMPTY}|${EMPTY:-standin}|${HOST:-other}", variables, "x")).toBe("|standin|example.com");
  expect(expandVariables("$HOST $5 ${not a name}", variables, "x")).toBe("$HOST $5 ${not a name}");
});

it("does not expand what a variable holds", () => {
  expect(expandVariables("${NESTED}", variables, "x")).toBe("${HOST}");
});

it("refuses a variable that is not set, and names it", () => {
  expect(() => expandVariables("${MISSING}", variables, 'The url of "notes"')).toThrow(McpError);
  expect(() => expandVariables("${MISSING}", variables, 'The url of "notes"')).toThrow(/url of "notes".*MISSING/);
  expect(() => expandVariables("${toString}", variables, "x")).toThrow(/toString/);
});

it("leaves every text without a `${` as it is", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes("${"));
      expect(expandVariables(text, variables, "x")).toBe(text);
    }),
  );
});

it("tells the variables that a text names", () => {
  expect(variablesIn("${HOST}/${PATH_OF:-mcp}/${HOST} $5 ${not a name}")).toEqual(["HOST", "PATH_OF"]);
  expect(variablesIn("${NESTED}")).toEqual(["NESTED"]);
});
