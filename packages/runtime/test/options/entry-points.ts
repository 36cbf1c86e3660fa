import { join } from "node:path";
import ts from "typescript";
import { entriesOf, publishedPackages } from "../../../../tools/package-entries.ts";
import { root } from "../../../../tools/run-command.ts";

/** A parameter of a public function, constructor or method that takes an object of options. */
export interface EntryPoint {
  /** As in "createAgent", "new Context", "Vfs.grep"; a method of a type without a name is written as in "observe().next". */
  readonly place: string;
  /** The position of the options among the parameters. */
  readonly at: number;
  /** The type of the options, as the compiler prints it. */
  readonly type: string;
}

/**
 * Reads with the compiler each parameter of the published packages that takes an object of options: of exported functions and classes, and of
 * the methods of all objects that these return, however deep. An object of options has members that may be left out, or is a type that is
 * named so. A member of a union that is told apart by `type` or `kind` is data.
 * @param given names of types that users implement, so that their methods are called by the library
 */
export function readEntryPoints(given: ReadonlySet<string>): readonly EntryPoint[] {
  const entries = publishedPackages().flatMap((published) =>
    entriesOf(published).flatMap(({ specifier, source }) => (specifier === undefined ? [] : [join(root, published.folder, source)])),
  );
  const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), (path) => ts.sys.readFile(path)) as {
    readonly config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: ["node"] }, root);
  const program = ts.createProgram(entries, options);
  const walk = new SurfaceWalk(program.getTypeChecker(), given);
  for (const entry of entries) {
    const source = program.getSourceFile(entry);
    if (source === undefined) throw new Error(`${entry} cannot be read`);
    walk.module(source);
  }
  return walk.finish();
}

class SurfaceWalk {
  readonly #checker: ts.TypeChecker;
  readonly #given: ReadonlySet<string>;
  readonly #seenTypes = new Set<ts.Type>();
  readonly #seenPlaces = new Set<string>();
  readonly #queue: { readonly type: ts.Type; readonly path: string }[] = [];
  readonly #found = new Map<string, EntryPoint>();

  constructor(checker: ts.TypeChecker, given: ReadonlySet<string>) {
    this.#checker = checker;
    this.#given = given;
  }

  module(source: ts.SourceFile): void {
    const module = this.#checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${source.fileName} is no module`);
    for (const exported of this.#checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported;
      if (!(symbol.flags & ts.SymbolFlags.Value) || this.#seenPlaces.has(exported.name)) continue;
      this.#seenPlaces.add(exported.name);
      const type = this.#checker.getTypeOfSymbol(symbol);
      for (const signature of type.getCallSignatures()) this.#signature(signature, exported.name);
      for (const signature of type.getConstructSignatures()) this.#signature(signature, `new ${exported.name}`);
      this.#visit(type, exported.name);
    }
  }

  finish(): readonly EntryPoint[] {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) this.#expand(next.type, next.path);
    return [...this.#found.values()].sort((a, b) => (a.place < b.place ? -1 : 1));
  }

  #signature(signature: ts.Signature, place: string): void {
    for (const [at, parameter] of signature.parameters.entries()) {
      for (const part of partsOf(this.#checker.getTypeOfSymbol(parameter))) {
        const type = part.flags & ts.TypeFlags.TypeParameter ? (this.#checker.getBaseConstraintOfType(part) ?? part) : part;
        if (!this.#isOptions(type)) continue;
        const printed = this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
        this.#found.set(`${place} ${at} ${printed}`, { place, at, type: printed });
      }
    }
    this.#visit(signature.getReturnType(), `${place}()`);
  }

  #visit(type: ts.Type, path: string): void {
    if (this.#seenTypes.has(type)) return;
    this.#seenTypes.add(type);
    this.#queue.push({ type, path });
  }

  #expand(type: ts.Type, path: string): void {
    // A type that depends on a parameter is found where it is known.
    if (type.flags & (ts.TypeFlags.Conditional | ts.TypeFlags.IndexedAccess)) return;
    if (type.flags & ts.TypeFlags.TypeParameter) {
      const constraint = this.#checker.getBaseConstraintOfType(type);
      if (constraint !== undefined) this.#visit(constraint, path);
      return;
    }
    if (type.isUnionOrIntersection()) for (const part of type.types) this.#visit(part, path);
    if (type.isUnion()) return;
    // What a promise, a list or an iterable holds.
    for (const argument of this.#checker.getTypeArguments(type as ts.TypeReference)) this.#visit(argument, path);
    for (const argument of type.aliasTypeArguments ?? []) this.#visit(argument, path);
    const name = nameOf(type) ?? path;
    if (this.#given.has(name) || name.endsWith("Options")) return;
    for (const property of this.#checker.getPropertiesOfType(type)) {
      const declaration = property.valueDeclaration ?? property.declarations?.[0];
      if (
        declaration === undefined ||
        !isOurs(declaration) ||
        isPrivate(property, declaration) ||
        this.#given.has(`${name}.${property.name}`)
      )
        continue;
      const place = `${name}.${property.name}`;
      for (const part of partsOf(this.#checker.getTypeOfSymbol(property))) {
        const signatures = part.getCallSignatures();
        if (signatures.length === 0) this.#visit(part, place);
        else if (!this.#seenPlaces.has(place)) {
          this.#seenPlaces.add(place);
          for (const signature of signatures) this.#signature(signature, place);
        }
      }
    }
  }

  #isOptions(type: ts.Type): boolean {
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return false;
    if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return false;
    if (this.#checker.isArrayType(type) || this.#checker.isTupleType(type)) return false;
    if (type.isClass() || (type.symbol?.flags ?? 0) & ts.SymbolFlags.Class) return false;
    if (this.#checker.getIndexInfosOfType(type).length > 0) return false;
    const members = this.#checker.getPropertiesOfType(type);
    // An object that can be disposed of is at work.
    if (members.some((member) => member.name.startsWith("__@"))) return false;
    if (!members.some((member) => member.declarations?.some(isOurs) ?? true)) return false;
    if (members.some((member) => this.#isTag(member))) return false;
    const isNamed = /Options$/.test(nameOf(type) ?? "");
    return isNamed || members.some((member) => member.flags & ts.SymbolFlags.Optional);
  }

  #isTag(member: ts.Symbol): boolean {
    return /^(?:type|kind)$/.test(member.name) && partsOf(this.#checker.getTypeOfSymbol(member)).every((part) => part.isStringLiteral());
  }
}

/** The name that this project gives a type: `Partial` and `Omit` are none. */
function nameOf(type: ts.Type): string | undefined {
  const symbol = [type.aliasSymbol, type.symbol].find((candidate) => candidate?.declarations?.some(isOurs));
  return symbol === undefined || symbol.name.startsWith("__") ? undefined : symbol.name;
}

function partsOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types.flatMap(partsOf) : [type];
}

function isOurs(declaration: ts.Declaration): boolean {
  const { fileName } = declaration.getSourceFile();
  return fileName.startsWith(join(root, "packages")) && !fileName.includes("node_modules");
}

function isPrivate(property: ts.Symbol, declaration: ts.Declaration): boolean {
  return (
    property.name.startsWith("__#") ||
    ts.isPrivateIdentifier((declaration as ts.NamedDeclaration).name ?? declaration) ||
    (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private) !== 0
  );
}
