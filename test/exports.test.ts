import { readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { entriesOf, publishedPackages } from "../tools/package-entries.ts";
import { root } from "../tools/run-command.ts";

/** The names that a module exports, types marked as such. Re-exports are by name (a rule of the house), so that its own text tells all. */
function exportedNames(text: string): readonly string[] {
  const source = ts.createSourceFile("index.ts", text, ts.ScriptTarget.Latest, true);
  const names: string[] = [];
  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement)) {
      if (statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause))
        throw new Error(`exports more than it names: ${statement.getText()}`);
      for (const element of statement.exportClause.elements)
        names.push(`${statement.isTypeOnly || element.isTypeOnly ? "type " : ""}${element.name.text}`);
      continue;
    }
    const isExported =
      ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword);
    if (isExported !== true) continue;
    if (ts.isVariableStatement(statement))
      names.push(...statement.declarationList.declarations.map((declaration) => declaration.name.getText()));
    else if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) names.push(`type ${statement.name.text}`);
    else if ((ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) && statement.name !== undefined)
      names.push(statement.name.text);
    else throw new Error(`an export of a kind that is not known here: ${statement.getText().split("\n")[0]}`);
  }
  const bare = (name: string): string => name.replace("type ", "");
  return [...new Set(names)].sort((a, b) => (bare(a) < bare(b) ? -1 : 1));
}

const entries = publishedPackages().flatMap((published) =>
  entriesOf(published).flatMap(({ specifier, source }) =>
    specifier === undefined ? [] : [{ specifier, path: join(root, published.folder, source) }],
  ),
);

describe("what the packages export", () => {
  it("is what was decided: `-u` rewrites the list, and the change of it is reviewed", async () => {
    const lists = await Promise.all(
      entries.map(
        async ({ specifier, path }) =>
          `${specifier}\n${exportedNames(await readFile(path, "utf8"))
            .map((name) => `  ${name}\n`)
            .join("")}`,
      ),
    );
    await expect(lists.join("\n")).toMatchFileSnapshot("exports.pinned.txt");
  });

  it.each(entries)("$specifier gives at run time exactly the values it names", async ({ specifier, path }) => {
    const named = exportedNames(await readFile(path, "utf8")).filter((name) => !name.startsWith("type "));
    expect(Object.keys((await import(specifier)) as object).sort()).toEqual([...named].sort());
  });

  it("has a home for each value: none is exported by two subpaths, except by the root, which repeats the few that newcomers need", async () => {
    const homes = new Map<string, string[]>();
    for (const { specifier, path } of entries.filter(({ specifier }) => specifier.startsWith("keelson/"))) {
      for (const name of exportedNames(await readFile(path, "utf8")).filter((name) => !name.startsWith("type ")))
        homes.set(name, [...(homes.get(name) ?? []), specifier]);
    }
    expect([...homes].filter(([, specifiers]) => specifiers.length > 1)).toEqual([]);
  });
});
