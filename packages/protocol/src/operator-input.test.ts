import { describe, expect, it } from "vitest";
import { operatorInput } from "./operator-input.ts";

describe("operatorInput", () => {
  it("refuses an unknown member of its config and names the one that was probably meant", () => {
    const options = { config: { maxTurn: 1 } as object };
    expect(() => operatorInput("go", "task", options)).toThrow('operatorInput.config has no option "maxTurn": did you mean "maxTurns"?');
  });

  it("takes each member of its config", () => {
    const config = { maxTurns: 1, model: "m", allowedOperators: ["a"], systemAddendum: "Be brief." };
    expect(operatorInput("go", "task", { config }).config).toEqual(config);
  });
});
