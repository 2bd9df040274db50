// Compile a WebAssembly text and print its bytes in base64: node assemble.js FILE.wat
const fs = require("fs");
require("wabt")().then((wabt) => {
  const text = fs.readFileSync(process.argv[2], "utf8");
  const module = wabt.parseWat("linear.wat", text, { simd: true });
  const { buffer } = module.toBinary({});
  process.stdout.write(Buffer.from(buffer).toString("base64"));
});
