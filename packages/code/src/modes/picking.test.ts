import { describe, expect, it } from "vitest";
import { createListPicker } from "../pickers/list-picker.ts";
import type { LivePart } from "../terminal/live-part.ts";
import { createStyle } from "../text/style.ts";
import { createPicking } from "./picking.ts";

const INPUT: LivePart = { rows: () => ({ lines: ["typed"] }) };

function open() {
  const did: string[] = [];
  let part: LivePart | undefined;
  let handle: ((sequence: string) => void) | undefined;
  const picking = createPicking({
    screen: {
      part: (place, given) => {
        expect(place).toBe("input");
        part = given;
      },
      changed: () => void did.push("frame"),
    },
    style: createStyle(false),
    keys: {
      lend(given) {
        handle = given;
        return () => {
          if (handle === given) handle = undefined;
        };
      },
    },
    input: INPUT,
  });
  const pick = (...labels: readonly string[]) =>
    picking.choose<string>((opened) =>
      createListPicker<string>({ ...opened, title: "pick", choices: labels.map((label) => ({ value: label, label })) }),
    );
  return { picking, pick, did, part: () => part, type: (key: string) => handle?.(key), hasKeys: () => handle !== undefined };
}

describe("createPicking", () => {
  it("shows a list in the place of the input, has its keys, and gives both back with the choice", async () => {
    const { pick, did, part, type, hasKeys } = open();
    const picked = pick("a", "b");
    expect([hasKeys(), part()?.rows({ columns: 20, rows: 5 }).lines[1]]).toEqual([true, "❯ a"]);
    type("\u001b[B");
    type("\r");
    expect(await picked).toBe("b");
    expect([hasKeys(), part(), did]).toEqual([false, INPUT, ["frame", "frame"]]);
  });

  it("leaves a list for the next one, and the last one when the conversation ends", async () => {
    const { picking, pick, type, hasKeys } = open();
    const first = pick("a");
    const second = pick("b");
    expect(await first).toBeUndefined();
    expect(hasKeys()).toBe(true);
    type("\r");
    expect(await second).toBe("b");
    const third = pick("c");
    picking.leave();
    expect([await third, hasKeys()]).toEqual([undefined, false]);
  });
});
