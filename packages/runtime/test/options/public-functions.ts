import { join } from "node:path";
import ts from "typescript";
import { entriesOf, publishedPackages } from "../../../../tools/package-entries.ts";
import { root } from "../../../../tools/run-command.ts";

/** A function that users can import, with the names of the types of its parameters. */
export interface PublicFunction {
  readonly name: string;
  readonly parameters: readonly string[];
}

/** Reads with the compiler which functions the library exports. */
export function readPublicFunctions(): readonly PublicFunction[] {
  const library = publishedPackages().find(({ manifest }) => manifest.name === "keelson");
  if (library === undefined) throw new Error("there is no package keelson");
  const entries = entriesOf(library).map(({ source }) => join(root, library.folder, source));
  const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), (path) => ts.sys.readFile(path)) as {
    readonly config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: ["node"] }, root);
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const functions = new Map<string, PublicFunction>();
  for (const entry of entries) {
    const source = program.getSourceFile(entry);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${entry} is no module`);
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const declarations = symbol.declarations ?? [];
      const parameters = declarations
        .filter((declaration) => ts.isFunctionDeclaration(declaration))
        .flatMap((declaration) => declaration.parameters.map(({ type }) => type?.getText() ?? ""));
      if (symbol.flags & ts.SymbolFlags.Function) functions.set(symbol.name, { name: symbol.name, parameters });
    }
  }
  return [...functions.values()];
}
