/** The part of the library that is used here. */
declare module "re2js" {
  export interface Matcher {
    find(): boolean;
    start(group?: number): number;
    end(group?: number): number;
    group(group?: number | string): string | null;
    groupCount(): number;
  }
  export class RE2JS {
    static readonly CASE_INSENSITIVE: number;
    static readonly DOTALL: number;
    static readonly MULTILINE: number;
    static compile(pattern: string, flags?: number): RE2JS;
    matcher(text: string): Matcher;
    namedGroups(): { readonly [name: string]: number };
  }
}
