import fc from "fast-check";

/** Texts made of the language's own pieces: mostly valid, often nearly valid. */
const piece = fc.constantFrom(
  ..."a b_1 key x.y 0 1 07 -1 1.5 .5 1e3 1__0 inf -nan true null ${a} ${ } @ / ~ + ++ * ? | é".split(
    " ",
  ),
  ..."= , ( ) [ ] { } : \\ \\\\ \\, \\( ' \" 'a b' \"x\" $ % #".split(" "),
  ..."choice( range(1,3) sort( shuffle( tag(t, interval(0,1) glob(*) int( str( n= zip( zip(a=choice(1,2),+b.c=range(2)) logrange(1,9 )+choice( :=".split(
    " ",
  ),
  " ",
  "\t",
  "\n",
);

const value = fc.letrec<{ value: string; items: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("a", "1", "1.5", "true", "null", "'q'", '"r"', "a b", "${x}", "*", "\\,"),
    tie("items").map((items) => `[${items}]`),
    tie("value").map((inner) => `zip(a=${inner},+g/h@p=choice(1,2))`),
    fc.tuple(tie("items"), tie("value")).map(([items, other]) => `choice(${items})+${other}`),
    tie("value").map((inner) => `{k: ${inner},1:x}`),
    fc
      .tuple(
        fc.constantFrom(
          "choice",
          "range",
          "interval",
          "glob",
          "sort",
          "shuffle",
          "tag",
          "int",
          "zip",
          "logrange",
          "f",
        ),
        tie("items"),
      )
      .map(([name, items]) => `${name}(${items})`),
  ),
  items: fc.array(tie("value"), { maxLength: 3 }).map((items) => items.join(",")),
})).items;

const prefix = fc.constantFrom("key=", "+a.b=", "++g/h=", "~g@p=", "g@=", "");

export const overrideSyntaxText: fc.Arbitrary<string> = fc
  .tuple(prefix, value, fc.array(piece, { maxLength: 4 }), fc.nat())
  .map(([start, middle, pieces, seed]) => {
    const text = start + middle;
    const at = seed % (text.length + 1);
    return text.slice(0, at) + pieces.join("") + text.slice(at);
  });
