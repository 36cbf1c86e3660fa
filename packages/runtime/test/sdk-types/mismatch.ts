type Primitive = string | number | boolean | bigint | symbol | null | undefined;

/** The members of `T`, or of any member of the union `T`. */
export type MemberOf<T> = T extends unknown ? keyof T & string : never;

/** The members that `Ours` has and no member of the union `Theirs`. */
export type Unknown<Ours, Theirs> = Exclude<MemberOf<Ours>, MemberOf<Theirs>>;

/**
 * Where `Ours` is not what `Theirs` takes, as paths; `never` when all of it is. Unlike assignability it tells members that
 * `Theirs` does not know, at any depth, and it tells where; the members of an enum are their strings. Nothing is said of what
 * stands under an `Except`, nor of objects with names of any kind, as JSON schemas are.
 */
export type Mismatch<Ours, Theirs, Except = never, Path extends string = ""> = [Ours] extends [never]
  ? never
  : Ours extends Except
    ? never
    : unknown extends Theirs
      ? never
      : Ours extends Primitive
        ? Ours extends Theirs | `${Extract<Theirs, string>}`
          ? never
          : Path
        : Ours extends readonly (infer Item)[]
          ? ItemMismatch<Item, Extract<Theirs, readonly unknown[]>, Except, Path>
          : ObjectMismatch<Ours, Alike<Ours, Exclude<Theirs, Primitive | readonly unknown[]>>, Except, Path>;

type ItemMismatch<Item, Theirs, Except, Path extends string> = [Theirs] extends [never]
  ? Path
  : [Theirs] extends [readonly (infer Theirs)[]]
    ? Mismatch<Item, Theirs, Except, `${Path}[]`>
    : never;

/** The members of a union that say the same of themselves in `type` and `role`. */
type Alike<Ours, Theirs> = Theirs extends unknown
  ? [Agree<Ours, Theirs, "type">, Agree<Ours, Theirs, "role">] extends [true, true]
    ? Theirs
    : never
  : never;
type Agree<Ours, Theirs, K extends string> = string extends keyof Ours
  ? true
  : K extends keyof Ours & keyof Theirs
    ? [Extract<Ours[K], Theirs[K]>] extends [never]
      ? false
      : true
    : K extends keyof Ours
      ? true
      : Theirs extends { readonly [P in K]: unknown }
        ? false
        : true;

/** Of several of theirs one must take it; when none does, this is what is wrong with each. */
type ObjectMismatch<Ours, Theirs, Except, Path extends string> = [Theirs] extends [never]
  ? Path
  : "fits" extends Tried<Ours, Theirs, Except, Path>
    ? never
    : Exclude<Tried<Ours, Theirs, Except, Path>, "fits">;
type Tried<Ours, Theirs, Except, Path extends string> = Theirs extends unknown
  ? [MembersMismatch<Ours, Theirs, Except, Path>] extends [never]
    ? "fits"
    : MembersMismatch<Ours, Theirs, Except, Path>
  : never;

type MembersMismatch<Ours, Theirs, Except, Path extends string> = string extends keyof Ours
  ? never
  :
      | {
          [K in keyof Ours & string]: K extends keyof Theirs
            ? Mismatch<Exclude<Ours[K], undefined>, Theirs[K], Except, `${Path}.${K}`>
            : `${Path}.${K}?`;
        }[keyof Ours & string]
      | {
          [K in keyof Theirs & string]: {} extends Pick<Theirs, K>
            ? never
            : K extends keyof Ours
              ? {} extends Pick<Ours, K>
                ? `${Path}.${K}!`
                : never
              : `${Path}.${K}!`;
        }[keyof Theirs & string];
