// Prints what the TypeScript compiler sees in files of declarations, in the form of `reader.py`:
// [kind, name, line, parameters, whether there is a doc comment] for each declaration and member.

const [compiler, ...files] = process.argv.slice(2);
const ts = require(compiler);

const kinds = {
  [ts.SyntaxKind.InterfaceDeclaration]: "interface",
  [ts.SyntaxKind.TypeAliasDeclaration]: "type",
  [ts.SyntaxKind.FunctionDeclaration]: "function",
  [ts.SyntaxKind.VariableStatement]: "var",
  [ts.SyntaxKind.ImportEqualsDeclaration]: "import",
  [ts.SyntaxKind.ExportDeclaration]: "import",
  [ts.SyntaxKind.PropertySignature]: "field",
  [ts.SyntaxKind.MethodSignature]: "method",
  [ts.SyntaxKind.ConstructSignature]: "new",
  [ts.SyntaxKind.IndexSignature]: "index",
  [ts.SyntaxKind.GetAccessor]: "get",
  [ts.SyntaxKind.SetAccessor]: "set",
};

function nameOf(node, kind, source) {
  if (kind === "new") return "new";
  if (kind === "index") return `[${node.parameters[0].name.text}]`;
  const name = node.declarationList?.declarations[0].name ?? node.moduleSpecifier ?? node.name;
  return name.text ?? name.getText(source);
}

function list(source) {
  const found = [];
  const visit = (node) => {
    if (ts.isParameter(node) || ts.isTypeParameterDeclaration(node)) return;
    const kind = ts.isModuleDeclaration(node)
      ? ts.isStringLiteral(node.name) ? "module" : "namespace"
      : kinds[node.kind];
    if (kind) {
      const params = kind === "index" ? [] : (node.parameters ?? []).map((parameter) => parameter.name.text);
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      found.push([kind, nameOf(node, kind, source), line, params, (node.jsDoc ?? []).length > 0]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const sources = files.map((file) => ts.createSourceFile(file, ts.sys.readFile(file), ts.ScriptTarget.Latest, true));
console.log(JSON.stringify(sources.flatMap(list)));
