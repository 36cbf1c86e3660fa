import { join } from "node:path";
import ts from "typescript";
import { entriesOf, publishedPackages } from "../../../../tools/package-entries.ts";
import { root } from "../../../../tools/run-command.ts";

/**
 * Reads with the compiler the members of the exported types of options that may be left out and cannot be given as `undefined`.
 * @returns each as `Type.member`
 */
export function readExactMembers(): readonly string[] {
  const library = publishedPackages().find(({ manifest }) => manifest.name === "keelson");
  if (library === undefined) throw new Error("there is no package keelson");
  const entries = entriesOf(library).map(({ source }) => join(root, library.folder, source));
  const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), (path) => ts.sys.readFile(path)) as {
    readonly config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: ["node"] }, root);
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const exactMembers = new Set<string>();
  for (const entry of entries) {
    const source = program.getSourceFile(entry);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${entry} is no module`);
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if (symbol.name.endsWith("Options") && symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias))
        for (const member of exactMembersOf(checker, checker.getDeclaredTypeOfSymbol(symbol), symbol.name)) exactMembers.add(member);
    }
  }
  return [...exactMembers].sort();
}

function exactMembersOf(checker: ts.TypeChecker, type: ts.Type, of: string): readonly string[] {
  // Mapped types name `undefined` for all of their members at once, or for none: their declarations stand elsewhere.
  if (isMapped(type)) return [];
  return checker.getPropertiesOfType(type).flatMap((property) => {
    const place = `${of}.${property.name}`;
    const declaration = property.declarations?.[0];
    if (declaration === undefined) return [];
    const declared = checker.getTypeOfSymbol(property);
    // Options within options, written in place. What has a name of its own is data.
    const within = (declared.isUnion() ? declared.types : [declared]).flatMap((part) =>
      part.aliasSymbol === undefined && part.symbol?.flags & ts.SymbolFlags.TypeLiteral && part.getCallSignatures().length === 0
        ? exactMembersOf(checker, part, place)
        : [],
    );
    // Methods that may be left out are called where they are there; their `undefined` is not spelled out.
    if (!(property.flags & ts.SymbolFlags.Optional) || ts.isMethodSignature(declaration)) return within;
    const isWide = ts.isPropertySignature(declaration) && declaration.type !== undefined && namesUndefined(declaration.type);
    return isWide ? within : [place, ...within];
  });
}

function isMapped(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.Object) !== 0 && ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Mapped) !== 0;
}

function namesUndefined(type: ts.TypeNode): boolean {
  if (type.kind === ts.SyntaxKind.UndefinedKeyword || type.kind === ts.SyntaxKind.UnknownKeyword) return true;
  return ts.isUnionTypeNode(type) && type.types.some(namesUndefined);
}
