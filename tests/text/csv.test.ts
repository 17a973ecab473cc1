import { describe, expect, it } from "vitest";
import { csvRecord } from "../../src/text/csv.ts";

describe("a record of CSV", () => {
  it("keeps the borders of its cells", () => {
    expect(csvRecord(["a,b", 'c"d', "e\nf", "g"])).toBe('"a,b","c""d","e\nf",g');
    expect(csvRecord([0.5, null, "", -1])).toBe("0.5,,,-1");
  });

  it("lets no text become a formula", () => {
    expect(csvRecord(["=1+1", "@SUM(A1)", "-cmd", "+x", "\tx", "a=b"])).toBe(
      "'=1+1,'@SUM(A1),'-cmd,'+x,'\tx,a=b",
    );
    expect(csvRecord(["-1+cmd", '=A1,"x"'])).toBe('\'-1+cmd,"\'=A1,""x"""');
  });

  it("takes numbers with a sign for numbers", () => {
    expect(csvRecord(["-0.1", "+3", "-1e-5", "-.5", "-2.", "-inf"])).toBe(
      "-0.1,+3,-1e-5,-.5,-2.,-inf",
    );
  });
});
