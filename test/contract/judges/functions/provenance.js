/**
 * A rule of ours for Spectral: every node of the document that is a fact of the service carries `x-stated` (a section
 * of the interface) or `x-assumed` (`{id, what}`), and nothing else is marked as one.
 */

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** Sections of the interface: 1 to 9, with a point below 2, 4 and so on. */
const SECTION = /^[1-9](?:\.[1-9])?$/;
const ASSUMPTION = /^A-\d{2,3}$/;

export default function provenance(document) {
  const found = [];
  for (const [path, node] of factsOf(document)) {
    if (!isObject(node) || typeof node.$ref === 'string') continue;
    if (!('x-stated' in node) && !('x-assumed' in node))
      found.push({ path, message: 'says neither x-stated nor x-assumed' });
  }
  for (const [path, node] of everyNode(document, [])) found.push(...wrongMarks(path, node));
  return found;
}

/** What says something about the service: operations, what goes in, what comes out, and every schema below. */
function* factsOf(document) {
  for (const kind of ['paths', 'webhooks']) {
    for (const [name, item] of entries(document[kind])) {
      for (const [method, operation] of entries(item)) {
        if (METHODS.includes(method)) yield* operationFacts([kind, name, method], operation);
      }
    }
  }
  const { components } = document;
  for (const [name, scheme] of entries(components?.securitySchemes)) {
    yield [['components', 'securitySchemes', name], scheme];
  }
  yield* sharedFacts('parameters', parameterFacts, components);
  yield* sharedFacts('headers', parameterFacts, components);
  yield* sharedFacts('responses', responseFacts, components);
  yield* sharedFacts('schemas', schemaFacts, components);
}

function* sharedFacts(kind, factsIn, components) {
  for (const [name, node] of entries(components?.[kind])) yield* factsIn(['components', kind, name], node);
}

function* operationFacts(path, operation) {
  yield [path, operation];
  for (const [index, parameter] of entries(operation.parameters)) {
    yield* parameterFacts([...path, 'parameters', index], parameter);
  }
  if (operation.requestBody !== undefined) yield* contentFacts([...path, 'requestBody'], operation.requestBody);
  for (const [status, response] of entries(operation.responses)) {
    yield* responseFacts([...path, 'responses', status], response);
  }
}

function* responseFacts(path, response) {
  yield* contentFacts(path, response);
  for (const [name, header] of entries(response.headers)) yield* parameterFacts([...path, 'headers', name], header);
}

function* contentFacts(path, node) {
  yield [path, node];
  for (const [type, media] of entries(node.content))
    yield* schemaFacts([...path, 'content', type, 'schema'], media.schema);
}

function* parameterFacts(path, parameter) {
  yield [path, parameter];
  if (parameter.schema !== undefined) yield* schemaFacts([...path, 'schema'], parameter.schema);
}

function* schemaFacts(path, schema) {
  if (!isObject(schema)) return;
  yield [path, schema];
  for (const [name, property] of entries(schema.properties))
    yield* schemaFacts([...path, 'properties', name], property);
  for (const part of ['items', 'additionalProperties']) yield* schemaFacts([...path, part], schema[part]);
}

function* wrongMarks(path, node) {
  const { 'x-stated': section, 'x-assumed': assumed } = node;
  if (section !== undefined && !SECTION.test(section)) {
    yield { path: [...path, 'x-stated'], message: `is no section of the interface: ${section}` };
  }
  if (assumed === undefined) return;
  const isWhole =
    isObject(assumed) && ASSUMPTION.test(assumed.id) && typeof assumed.what === 'string' && assumed.what !== '';
  if (!isWhole) yield { path: [...path, 'x-assumed'], message: 'does not say which assumption, and what is assumed' };
}

function* everyNode(node, path) {
  if (!isObject(node)) return;
  if (!Array.isArray(node)) yield [path, node];
  for (const [key, part] of entries(node)) yield* everyNode(part, [...path, key]);
}

function entries(node) {
  return isObject(node) ? Object.entries(node) : [];
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}
