import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { listed } from "../compiled-form.ts";
import { allProgramEntries } from "./index.ts";
import type { ProgramForm } from "./program-entry.ts";

const guide = readFileSync(resolve(import.meta.dirname, "../../../../../../docs/guides/permissions.md"), "utf8");
const [, block] = /<!-- programs -->\n([^]*?)\n<!-- \/programs -->/.exec(guide) ?? [];

interface NamedForm {
  readonly name: string;
  readonly form: ProgramForm;
}

function formsOf(name: string, form: ProgramForm): readonly NamedForm[] {
  const below = Object.entries(form.subcommands ?? {}).flatMap(([names, sub]) =>
    listed(names).flatMap((one) => formsOf(`${name} ${one}`, sub)),
  );
  return [{ name, form }, ...below];
}

/** The rows of the guide, made from the tables. */
function rows(): readonly string[] {
  const entries = allProgramEntries().flatMap((entry) => listed(entry.names).map((name) => ({ name, form: entry })));
  const forms = entries.flatMap(({ name, form }) => formsOf(name, form));
  const unasked = forms.filter(({ form }) => form.unasked === true);
  const names = (list: readonly NamedForm[]): string =>
    list
      .map(
        ({ name, form }) =>
          `\`${name}\`${
            form.needs === undefined
              ? ""
              : ` with ${listed(form.needs)
                  .map((option) => `\`${option}\``)
                  .join(" or ")}`
          }`,
      )
      .toSorted()
      .join(", ");
  const running = new Set(unasked.map(({ name }) => name.split(" ", 1)[0]));
  const others = entries.filter(({ name }) => !running.has(name));
  return [
    `| run unasked | ${names(unasked.filter(({ form }) => form.needs === undefined))} |`,
    `| run unasked with an option | ${names(unasked.filter(({ form }) => form.needs !== undefined))} |`,
    `| print their version or help unasked | ${names(others.filter(({ form }) => form.alone !== undefined).map(({ name }) => ({ name, form: {} })))} |`,
    `| are asked about | ${names(others.filter(({ form }) => form.alone === undefined).map(({ name }) => ({ name, form: {} })))} |`,
  ];
}

describe("the guide of permissions", () => {
  it("lists the programs of the tables by what runs unasked", () => {
    expect(block?.split("\n").slice(2)).toEqual(rows());
  });
});
