/* An evaluator of the PTX that package oocore/internal/ptx writes, after "Parallel Thread
 * Execution ISA", so that the kernels' values are tested without a GPU. Arithmetic rounds
 * as PTX says; what the ISA leaves undefined is an error: division of integers by zero,
 * misaligned or out-of-bounds accesses, barriers that not all threads of a block reach.
 * Warps of a block run one after the other up to a barrier, backwards every other time, and
 * shared memory begins with junk, so that a missing barrier shows.
 *
 * Compile with -O2 -ffp-contract=off. */
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, MOST_OPERANDS = 8, MOST_PARAMS = 512, NAME = 40 };

/* ptx_address may be defined by whoever links this file: whether a global access is legal. */
int ptx_address(uint64_t at, unsigned size) __attribute__((weak));

typedef enum { NONE, PRED, B16, B32, B64, U8, S8, U16, S16, U32, S32, U64, S64, F16, F32, F64, B8 } type;

static const struct { const char *name; type t; } types[] = {
    {"pred", PRED}, {"b8", B8}, {"b16", B16}, {"b32", B32}, {"b64", B64}, {"u8", U8}, {"s8", S8}, {"u16", U16}, {"s16", S16},
    {"u32", U32}, {"s32", S32}, {"u64", U64}, {"s64", S64}, {"f16", F16}, {"f32", F32}, {"f64", F64}};

static unsigned size_of(type t) {
  switch (t) {
  case U8: case S8: case B8: return 1;
  case B16: case U16: case S16: case F16: return 2;
  case B32: case U32: case S32: case F32: return 4;
  case B64: case U64: case S64: case F64: return 8;
  default: return 0;
  }
}
static int is_float(type t) { return t == F16 || t == F32 || t == F64; }
static int is_signed(type t) { return t == S8 || t == S16 || t == S32 || t == S64; }

typedef enum {
  LOAD, STORE, PARAM, MOV, ADD, SUB, MUL, MULHI, WIDE, MAD, DIV, REM, FMA, SQRT, NEG, ABS, MIN, MAX, AND, OR, XOR, NOT,
  SHL, SHR, SETP, SELP, CVT, BAR, BRA, RET
} operation;
static const struct { const char *name; operation op; int operands; } operations[] = {
    {"ld", LOAD, 2}, {"st", STORE, 2}, {"mov", MOV, 2}, {"add", ADD, 3}, {"sub", SUB, 3}, {"mul", MUL, 3}, {"mad", MAD, 4},
    {"div", DIV, 3}, {"rem", REM, 3}, {"fma", FMA, 4}, {"sqrt", SQRT, 2}, {"neg", NEG, 2}, {"abs", ABS, 2}, {"min", MIN, 3},
    {"max", MAX, 3}, {"and", AND, 3}, {"or", OR, 3}, {"xor", XOR, 3}, {"not", NOT, 2}, {"shl", SHL, 3}, {"shr", SHR, 3},
    {"setp", SETP, 3}, {"selp", SELP, 4}, {"cvt", CVT, 2}, {"cvta", MOV, 2}, {"bar", BAR, 1}, {"bra", BRA, 1}, {"ret", RET, 0}};

typedef enum { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ } comparison;
static const char *comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
typedef enum { ROUND_NONE, RN, RZ, RM, RP, RNI, RZI, RMI, RPI } rounding;
static const char *roundings[] = {"", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"};

/* An operand is a slot of the register file; constants and special registers have slots too. */
typedef struct {
  operation op;
  type t, from;
  comparison cmp;
  rounding round;
  int shared, vector;
  int slot[MOST_OPERANDS];
  int64_t offset; /* of an address; index of a parameter */
  int guard, negated;
  int target;
  char label[NAME];
  int line;
} instruction;

typedef struct { int slot; uint64_t value; } constant;

typedef struct {
  char name[NAME];
  char param[MOST_PARAMS][NAME];
  type param_type[MOST_PARAMS];
  int params;
  instruction *code;
  int length, room;
  constant *constants;
  int consts;
  struct { char name[NAME]; int at; } labels[4096];
  int n_labels;
  int slots; /* registers, then constants */
  unsigned shared;
  unsigned most_threads;
} entry;

typedef struct module {
  char *text;
  entry *entries[64];
  int n;
  struct module *next;
} module;

/* The special registers have the first slots. */
static const char *specials[] = {"%tid.x", "%tid.y", "%ntid.x", "%ntid.y", "%ctaid.x", "%ctaid.y", "%nctaid.x", "%nctaid.y"};
enum { SPECIALS = 8 };

/* ---- Reading text ---- */

typedef struct { char name[NAME]; int count; type t; int first; } variable; /* registers name0 … or one of count -1; shared: count -2 */

typedef struct {
  const char *at;
  int line;
  char *why;
  int why_len, failed;
  entry *e;
  variable vars[1024];
  int n_vars;
  int scope_vars[64], scope_slots[64], depth;
  int slots, most;
} reader;

static void fail(reader *r, const char *format, ...) {
  if (r->failed) return;
  r->failed = 1;
  int n = snprintf(r->why, r->why_len, "line %d: ", r->line);
  va_list args;
  va_start(args, format);
  if (n < r->why_len) vsnprintf(r->why + n, r->why_len - n, format, args);
  va_end(args);
}

static void skip(reader *r) {
  for (;;) {
    if (*r->at == '\n') r->line++;
    if (isspace((unsigned char)*r->at)) r->at++;
    else if (r->at[0] == '/' && r->at[1] == '/') while (*r->at && *r->at != '\n') r->at++;
    else return;
  }
}

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '$' || c == '.'; }

static void word(reader *r, char *to) {
  skip(r);
  int n = 0;
  while (is_word(*r->at)) {
    if (n == NAME - 1) { fail(r, "a word is too long"); break; }
    to[n++] = *r->at++;
  }
  to[n] = 0;
  if (!n) fail(r, "a word was expected and not \"%.10s\"", r->at);
}

static int accept(reader *r, char c) {
  skip(r);
  if (*r->at != c) return 0;
  r->at++;
  return 1;
}
static void expect(reader *r, char c) {
  if (!accept(r, c)) fail(r, "\"%c\" was expected and not \"%.10s\"", c, r->at);
}

static type type_named(const char *name) {
  for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, name)) return types[i].t;
  return NONE;
}

/* declare reads a .reg or .shared after its first word. */
static void declare_registers(reader *r) {
  char w[NAME];
  word(r, w);
  type t = type_named(w + 1);
  if (t != PRED && t != B16 && t != B32 && t != B64) fail(r, "registers of type %s", w);
  do {
    variable *v = &r->vars[r->n_vars++];
    if (r->n_vars == 1024) { fail(r, "too many declarations"); return; }
    word(r, v->name);
    v->t = t, v->count = -1, v->first = r->slots;
    int n = 1;
    if (accept(r, '<')) {
      word(r, w);
      v->count = n = atoi(w);
      expect(r, '>');
    }
    r->slots += n;
    if (r->slots > r->most) r->most = r->slots;
  } while (!r->failed && accept(r, ','));
  expect(r, ';');
}

static void declare_shared(reader *r) {
  char w[NAME];
  unsigned align = 1;
  word(r, w);
  if (!strcmp(w, ".align")) {
    word(r, w);
    align = atoi(w);
    word(r, w);
  }
  unsigned size = size_of(type_named(w + 1));
  if (!size || align < size || align & (align - 1)) { fail(r, "shared memory of type %s aligned to %u", w, align); return; }
  variable *v = &r->vars[r->n_vars++];
  word(r, v->name);
  expect(r, '[');
  word(r, w);
  expect(r, ']');
  expect(r, ';');
  r->e->shared = (r->e->shared + align - 1) & ~(align - 1);
  v->count = -2, v->t = B32, v->first = (int)r->e->shared;
  r->e->shared += size * atoi(w);
  if (r->e->shared > 48 << 10) fail(r, "more than 48 KiB of shared memory");
}

static int constant_slot(reader *r, uint64_t value) {
  entry *e = r->e;
  for (int i = 0; i < e->consts; i++)
    if (e->constants[i].value == value) return e->constants[i].slot;
  if (e->consts % 256 == 0) e->constants = realloc(e->constants, (e->consts + 256) * sizeof *e->constants);
  e->constants[e->consts] = (constant){-1 - e->consts, value}; /* numbered after the registers at the end */
  return e->constants[e->consts++].slot;
}

static variable *find(reader *r, const char *name, int *index) {
  int digits = (int)strlen(name);
  while (digits && isdigit((unsigned char)name[digits - 1])) digits--;
  for (int i = r->n_vars - 1; i >= 0; i--) {
    variable *v = &r->vars[i];
    *index = 0;
    if (v->count < 0 && !strcmp(v->name, name)) return v;
    if (v->count >= 0 && name[digits] && (int)strlen(v->name) == digits && !strncmp(v->name, name, digits)) {
      *index = atoi(name + digits);
      if (*index < v->count) return v;
    }
  }
  return NULL;
}

/* operand reads a register, a constant or a shared variable's address, for bits of the
 * given type; wider says that a wider register will do. */
static int operand(reader *r, type t, int wider, int result) {
  char w[NAME];
  skip(r);
  int minus = 0;
  if (*r->at == '-') minus = 1, r->at++;
  word(r, w);
  if (r->failed) return 0;
  unsigned size = size_of(t);
  if (isdigit((unsigned char)w[0])) {
    if (result) fail(r, "a constant as a result");
    uint64_t v;
    if (w[0] == '0' && (w[1] == 'f' || w[1] == 'F')) {
      if (size != 4 || strlen(w) != 10) fail(r, "constant %s of another width", w);
      v = strtoull(w + 2, NULL, 16);
    } else if (w[0] == '0' && (w[1] == 'd' || w[1] == 'D')) {
      if (size != 8 || strlen(w) != 18) fail(r, "constant %s of another width", w);
      v = strtoull(w + 2, NULL, 16);
    } else {
      if (is_float(t)) fail(r, "an integer as a float");
      v = strtoull(w, NULL, 0);
    }
    if (minus) v = -v;
    if (t == PRED) fail(r, "a constant as a predicate");
    if (size < 8) {
      uint64_t mask = (1ull << 8 * size) - 1;
      if ((v & ~mask) && (v | mask) != ~0ull) fail(r, "constant %s does not fit", w);
      v &= size < 4 ? 0xffffffffull : mask;
    }
    return constant_slot(r, v);
  }
  if (minus) fail(r, "a minus before %s", w);
  for (int i = 0; i < SPECIALS; i++)
    if (!strcmp(w, specials[i])) {
      if (result || size != 4) fail(r, "%s is 32 bits to be read", w);
      return i;
    }
  int index;
  variable *v = find(r, w, &index);
  if (!v) { fail(r, "%s is not declared", w); return 0; }
  if (v->count == -2) {
    if (size != 4 && size != 8) fail(r, "an address of %u bytes", size);
    return constant_slot(r, (uint64_t)v->first);
  }
  if ((v->t == PRED) != (t == PRED) || (t != PRED && (size_of(v->t) < size || (size_of(v->t) > size && !wider))))
    fail(r, "register %s is of another width", w);
  return v->first + index;
}

static void address(reader *r, instruction *i, int width) {
  expect(r, '[');
  i->slot[0] = operand(r, width == 4 ? B32 : B64, 0, 0);
  if (accept(r, '+')) {
    char w[NAME];
    skip(r);
    int minus = *r->at == '-';
    r->at += minus;
    word(r, w);
    i->offset = strtoll(w, NULL, 0) * (minus ? -1 : 1);
  }
  expect(r, ']');
}

static void values(reader *r, instruction *i, int result) {
  int n = i->vector ? i->vector : 1;
  if (i->vector) expect(r, '{');
  for (int k = 0; k < n; k++) {
    if (k) expect(r, ',');
    i->slot[1 + k] = operand(r, i->t, 1, result);
  }
  if (i->vector) expect(r, '}');
}

static void read_instruction(reader *r, char *w) {
  entry *e = r->e;
  if (e->length == e->room) e->code = realloc(e->code, (e->room = e->room * 2 + 256) * sizeof *e->code);
  instruction *i = &e->code[e->length++];
  memset(i, 0, sizeof *i);
  i->guard = -1;
  i->line = r->line;
  if (*w == '@') {
    char p[NAME];
    i->negated = accept(r, '!');
    word(r, p);
    int index;
    variable *v = find(r, p, &index);
    if (!v || v->t != PRED) fail(r, "%s is no predicate", p);
    else i->guard = v->first + index;
    word(r, w);
  }
  char full[NAME];
  strcpy(full, w);
  char *part = strtok(w, ".");
  int known = -1;
  for (unsigned k = 0; part && k < sizeof operations / sizeof *operations; k++)
    if (!strcmp(operations[k].name, part)) known = (int)k;
  if (known < 0) { fail(r, "instruction %s is not known", full); return; }
  i->op = operations[known].op;
  int n_types = 0, lo = 0, hi = 0, wide = 0, has_cmp = 0, sync = 0, global = 0, param = 0, cvta = 0, bits;
  while ((part = strtok(NULL, "."))) {
    type t = type_named(part);
    bits = 0;
    if (t != NONE) {
      if (n_types++) i->from = t;
      else i->t = i->from = t;
      continue;
    }
    for (int k = 1; k < 9; k++)
      if (!strcmp(part, roundings[k])) i->round = k, bits = 1;
    if (i->op == SETP)
      for (int k = 0; k < 14; k++)
        if (!strcmp(part, comparisons[k])) i->cmp = k, has_cmp = bits = 1;
    if (bits) continue;
    if (!strcmp(part, "lo")) lo = 1;
    else if (!strcmp(part, "hi")) hi = 1;
    else if (!strcmp(part, "wide")) wide = 1;
    else if (!strcmp(part, "sync") && i->op == BAR) sync = 1;
    else if (!strcmp(part, "uni") && i->op == BRA) ;
    else if (!strcmp(part, "to")) cvta = 1;
    else if (!strcmp(part, "global")) global = 1;
    else if (!strcmp(part, "shared")) i->shared = 1;
    else if (!strcmp(part, "param")) param = 1;
    else if (!strcmp(part, "v2")) i->vector = 2;
    else if (!strcmp(part, "v4")) i->vector = 4;
    else { fail(r, "modifier .%s of %s is not known", part, full); return; }
  }
  type t = i->t, from = i->from;
  switch (i->op) {
  case LOAD: case STORE:
    if (n_types != 1 || t == PRED || global + i->shared + param != 1) { fail(r, "%s is not known", full); return; }
    if (param) {
      char name[NAME];
      i->op = PARAM;
      i->slot[0] = operand(r, t, 0, 1);
      expect(r, ',');
      expect(r, '[');
      word(r, name);
      expect(r, ']');
      i->offset = -1;
      for (int k = 0; k < e->params; k++)
        if (!strcmp(e->param[k], name)) i->offset = k;
      if (i->offset < 0) fail(r, "%s is no parameter", name);
      else if (size_of(e->param_type[i->offset]) != size_of(t)) fail(r, "%s is of another width", name);
      break;
    }
    if (i->op == LOAD) {
      values(r, i, 1);
      expect(r, ',');
      address(r, i, i->shared ? 4 : 8);
    } else {
      address(r, i, i->shared ? 4 : 8);
      expect(r, ',');
      values(r, i, 0);
    }
    break;
  case BRA:
    word(r, i->label);
    break;
  case BAR: {
    char zero[NAME];
    word(r, zero);
    if (!sync || strcmp(zero, "0")) fail(r, "%s %s is not known", full, zero);
    if (i->guard >= 0) fail(r, "a barrier under a predicate");
    break;
  }
  case RET:
    break;
  default: {
    int n = operations[known].operands;
    type each[4] = {t, t, t, t};
    int ok = n_types == 1, wider = 0;
    switch (i->op) {
    case MUL:
      if (wide) {
        i->op = WIDE;
        ok &= t == U32 || t == S32;
        each[0] = t == U32 ? U64 : S64;
      } else if (hi) {
        i->op = MULHI;
        ok &= t == U32 || t == U64;
      } else ok &= lo ? (t == U32 || t == S32 || t == U64 || t == S64) : is_float(t);
      if (is_float(t)) ok &= i->round == RN;
      break;
    case MAD:
      ok &= lo && !is_float(t);
      break;
    case ADD: case SUB:
      ok &= t == F32 || t == F64 ? i->round == RN : !is_float(t) && size_of(t) >= 4 && t != B32 && t != B64;
      break;
    case DIV:
      ok &= is_float(t) ? i->round == RN : 1;
      break;
    case FMA: case SQRT:
      ok &= (t == F32 || t == F64) && i->round == RN;
      break;
    case REM: case MIN: case MAX:
      ok &= size_of(t) >= 4 && !is_float(t) && t != B32 && t != B64;
      break;
    case NEG: case ABS:
      ok &= t == F32 || t == F64 || t == S32 || t == S64;
      break;
    case AND: case OR: case XOR: case NOT:
      ok &= t == B32 || t == B64 || t == PRED;
      break;
    case SHL: case SHR:
      ok &= i->op == SHL ? t == B32 || t == B64 : !is_float(t) && size_of(t) >= 4;
      each[2] = U32;
      break;
    case SETP:
      ok &= has_cmp && size_of(t) >= 4 && (is_float(t) || i->cmp <= GE) && ((t != B32 && t != B64) || i->cmp <= NE);
      each[0] = PRED;
      break;
    case SELP:
      ok &= size_of(t) >= 4;
      each[3] = PRED;
      break;
    case CVT: {
      ok = n_types == 2;
      each[1] = from;
      wider = 1;
      int whole = i->round >= RNI, any = i->round != ROUND_NONE;
      if (is_float(t) && is_float(from)) {
        if (t == from) ok &= whole && t != F16;
        else if (size_of(t) < size_of(from)) ok &= i->round == RN || (i->round == RZ && t == F32);
        else ok &= !any;
      } else if (is_float(t)) ok &= i->round == RN && t != F16 && size_of(from) >= 4;
      else if (is_float(from)) ok &= i->round == RZI && from != F16 && size_of(t) >= 4;
      else ok &= !any;
      break;
    }
    case MOV:
      ok &= size_of(t) >= 4 || t == PRED;
      (void)cvta;
      break;
    default:
      break;
    }
    if (!ok) { fail(r, "%s is not known", full); return; }
    for (int k = 0; k < n; k++) {
      if (k) expect(r, ',');
      int f16 = is_float(each[k]) && size_of(each[k]) == 2;
      i->slot[k] = operand(r, each[k], wider && !f16 && !is_float(each[k]), k == 0);
    }
  }
  }
  expect(r, ';');
}

static void read_entry(reader *r, module *m) {
  char w[NAME];
  entry *e = r->e = calloc(1, sizeof *e);
  if (m->n == 64) { fail(r, "too many entries"); return; }
  m->entries[m->n++] = e;
  r->n_vars = r->depth = 0;
  r->slots = r->most = SPECIALS;
  word(r, e->name);
  expect(r, '(');
  while (!r->failed && !accept(r, ')')) {
    if (e->params) expect(r, ',');
    word(r, w);
    if (strcmp(w, ".param")) fail(r, "%s among parameters", w);
    word(r, w);
    if (e->params == MOST_PARAMS) { fail(r, "too many parameters"); return; }
    e->param_type[e->params] = type_named(w + 1);
    word(r, e->param[e->params++]);
  }
  e->most_threads = 1024;
  while (!r->failed && !accept(r, '{')) {
    char number[NAME];
    word(r, w);
    word(r, number);
    if (!strcmp(w, ".maxntid")) {
      e->most_threads = atoi(number);
      while (accept(r, ',')) {
        word(r, number);
        e->most_threads *= atoi(number);
      }
    } else if (strcmp(w, ".minnctapersm")) fail(r, "%s before the body of an entry", w);
  }
  while (!r->failed) {
    skip(r);
    if (accept(r, '{')) {
      if (r->depth == 64) { fail(r, "scopes are nested too deep"); return; }
      r->scope_vars[r->depth] = r->n_vars, r->scope_slots[r->depth++] = r->slots;
      continue;
    }
    if (accept(r, '}')) {
      if (!r->depth) break;
      r->n_vars = r->scope_vars[--r->depth], r->slots = r->scope_slots[r->depth];
      continue;
    }
    if (accept(r, '@')) {
      strcpy(w, "@");
      read_instruction(r, w);
      continue;
    }
    word(r, w);
    if (!strcmp(w, ".reg")) declare_registers(r);
    else if (!strcmp(w, ".shared")) declare_shared(r);
    else if (accept(r, ':')) {
      if (e->n_labels == 4096) { fail(r, "too many labels"); return; }
      for (int i = 0; i < e->n_labels; i++)
        if (!strcmp(e->labels[i].name, w)) fail(r, "label %s is there twice", w);
      strcpy(e->labels[e->n_labels].name, w);
      e->labels[e->n_labels++].at = e->length;
    } else read_instruction(r, w);
  }
  /* Constants have the slots behind the registers. */
  e->slots = r->most + e->consts;
  for (int i = 0; i < e->consts; i++) e->constants[i].slot = r->most + i;
  for (int i = 0; i < e->length && !r->failed; i++) {
    instruction *c = &e->code[i];
    for (int k = 0; k < MOST_OPERANDS; k++)
      if (c->slot[k] < 0) c->slot[k] = r->most - 1 - c->slot[k];
    if (c->op != BRA) continue;
    c->target = -1;
    for (int k = 0; k < e->n_labels; k++)
      if (!strcmp(e->labels[k].name, c->label)) c->target = e->labels[k].at;
    r->line = c->line;
    if (c->target < 0) fail(r, "label %s is nowhere", c->label);
  }
}

static void free_module(module *m) {
  for (int i = 0; i < m->n; i++) {
    free(m->entries[i]->code);
    free(m->entries[i]->constants);
    free(m->entries[i]);
  }
  free(m->text);
  free(m);
}

static module *read_module(const char *text, char *why, int why_len) {
  module *m = calloc(1, sizeof *m);
  reader *r = calloc(1, sizeof *r);
  m->text = strdup(text);
  r->at = text, r->line = 1, r->why = why, r->why_len = why_len;
  char w[NAME];
  static const char *head[] = {".version", "6.0", ".target", "sm_52", ".address_size", "64"};
  for (int i = 0; i < 6; i++) {
    word(r, w);
    if (!r->failed && strcmp(w, head[i])) fail(r, "%s where %s was expected", w, head[i]);
  }
  for (;;) {
    skip(r);
    if (r->failed || !*r->at) break;
    word(r, w);
    if (!strcmp(w, ".visible")) word(r, w);
    if (strcmp(w, ".entry")) fail(r, "%s outside of an entry", w);
    else read_entry(r, m);
  }
  int failed = r->failed;
  free(r);
  if (!failed) return m;
  free_module(m);
  return NULL;
}

static module *modules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static module *module_of(const char *text, char *why, int why_len) {
  pthread_mutex_lock(&lock);
  module *m = modules;
  while (m && strcmp(m->text, text)) m = m->next;
  if (!m && (m = read_module(text, why, why_len))) m->next = modules, modules = m;
  pthread_mutex_unlock(&lock);
  return m;
}

/* ---- Running ---- */

typedef enum { RUNS, WAITS, DONE } state;

typedef struct {
  uint64_t *file; /* slots of WARP lanes */
  int pc[WARP];
  state state[WARP];
} warp;

typedef struct {
  entry *e;
  void **params;
  unsigned char *shared;
  uint64_t steps;
  char *why;
  int why_len;
} run;

static int stop(run *x, instruction *i, const char *format, ...) {
  int n = snprintf(x->why, x->why_len, "entry %s, line %d: ", x->e->name, i->line);
  va_list args;
  va_start(args, format);
  if (n < x->why_len) vsnprintf(x->why + n, x->why_len - n, format, args);
  va_end(args);
  return 1;
}

static float to_f32(uint64_t b) {
  uint32_t u = (uint32_t)b;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static double to_f64(uint64_t b) {
  double d;
  memcpy(&d, &b, 8);
  return d;
}
/* Results of float32 arithmetic that are NaN are the canonical one. */
static uint64_t of_f32(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return f != f ? 0x7fffffff : u;
}
static uint64_t of_f64(double d) {
  uint64_t u;
  memcpy(&u, &d, 8);
  return u;
}
static double of_half(uint64_t b) {
  int e = b >> 10 & 31, m = b & 1023;
  double d = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
  return b >> 15 & 1 ? -d : d;
}
static uint64_t to_half(double x) {
  uint64_t sign = signbit(x) ? 0x8000 : 0;
  double a = fabs(x);
  if (a != a) return 0x7fff;
  if (a >= 65520) return sign | 0x7c00;
  int e;
  frexp(a, &e);
  e = e - 1 < -14 ? -14 : e - 1;
  double places = rint(ldexp(a, 10 - e)); /* of the last place; exact but for this rounding */
  if (places >= 2048) places /= 2, e++;
  if (places < 1024) return sign | (uint64_t)places; /* subnormal */
  return sign | (uint64_t)(e + 15) << 10 | ((uint64_t)places - 1024);
}

static uint64_t narrow(uint64_t v, type t) {
  switch (t) {
  case U8: return (uint8_t)v;
  case S8: return (uint64_t)(int64_t)(int8_t)v;
  case U16: return (uint16_t)v;
  case S16: return (uint64_t)(int64_t)(int16_t)v;
  case U32: case B32: return (uint32_t)v;
  case S32: return (uint64_t)(int64_t)(int32_t)v;
  default: return v;
  }
}

static double whole(double x, rounding r) {
  switch (r) {
  case RNI: return rint(x);
  case RMI: return floor(x);
  case RPI: return ceil(x);
  default: return trunc(x);
  }
}

static uint64_t saturated(double x, type t) {
  if (x != x) return size_of(t) == 8 ? 1ull << 63 : 0;
  x = trunc(x);
  switch (t) {
  case S32: return (uint32_t)(x <= -2147483648.0 ? INT32_MIN : x >= 2147483647.0 ? INT32_MAX : (int32_t)x);
  case U32: return x <= 0 ? 0 : x >= 4294967295.0 ? UINT32_MAX : (uint32_t)x;
  case S64: return (uint64_t)(x <= -0x1p63 ? INT64_MIN : x >= 0x1p63 ? INT64_MAX : (int64_t)x);
  default: return x <= 0 ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
  }
}

static uint64_t converted(const instruction *i, uint64_t v) {
  type t = i->t, from = i->from;
  if (is_float(from)) {
    double x = from == F64 ? to_f64(v) : from == F32 ? to_f32(v) : of_half(v);
    if (t == from) {
      if (t == F32) return of_f32((float)whole(x, i->round));
      return of_f64(whole(x, i->round));
    }
    if (t == F16) return to_half(x);
    if (t == F64) return of_f64(x);
    if (t == F32) {
      float f = (float)x;
      if (i->round == RZ && x == x && !isinf(x) && fabs((double)f) > fabs(x)) f = nextafterf(f, 0);
      return of_f32(f);
    }
    return saturated(x, t);
  }
  v = narrow(v, from);
  if (t == F32) return of_f32(is_signed(from) ? (float)(int64_t)v : (float)v);
  if (t == F64) return of_f64(is_signed(from) ? (double)(int64_t)v : (double)v);
  v = narrow(v, t);
  return size_of(t) <= 4 ? (uint32_t)v : v;
}

static int compared(const instruction *i, uint64_t a, uint64_t b) {
  if (is_float(i->t)) {
    double x = i->t == F32 ? to_f32(a) : to_f64(a), y = i->t == F32 ? to_f32(b) : to_f64(b);
    int nan = x != x || y != y;
    switch (i->cmp) {
    case EQ: return x == y;
    case NE: return !nan && x != y;
    case LT: return x < y;
    case LE: return x <= y;
    case GT: return x > y;
    case GE: return x >= y;
    case EQU: return nan || x == y;
    case NEU: return nan || x != y;
    case LTU: return nan || x < y;
    case LEU: return nan || x <= y;
    case GTU: return nan || x > y;
    case GEU: return nan || x >= y;
    case NUM: return !nan;
    default: return nan;
    }
  }
  a = narrow(a, i->t), b = narrow(b, i->t);
  int less = is_signed(i->t) ? (int64_t)a < (int64_t)b : a < b;
  switch (i->cmp) {
  case EQ: return a == b;
  case NE: return a != b;
  case LT: return less;
  case LE: return less || a == b;
  case GT: return !less && a != b;
  default: return !less;
  }
}

#define EACH(...) \
  do { \
    if (mask == ~0u) for (int l = 0; l < WARP; l++) { __VA_ARGS__; } \
    else for (int l = 0; l < WARP; l++) if (mask >> l & 1) { __VA_ARGS__; } \
  } while (0)
#define FLOATS(F) \
  if (i->t == F32) EACH(float p = to_f32(a[l]), q = to_f32(b[l]); d[l] = of_f32(F)); \
  else EACH(double p = to_f64(a[l]), q = to_f64(b[l]); d[l] = of_f64(F))
#define ARITHMETIC(V) \
  if (is_float(i->t)) { FLOATS(V); } \
  else EACH(uint64_t p = a[l], q = b[l], v = V; d[l] = narrower ? (uint32_t)v : v)

static int access_memory(run *x, instruction *i, warp *w, uint32_t mask) {
  unsigned size = size_of(i->t), n = i->vector ? i->vector : 1;
  uint64_t *base = w->file + (int64_t)i->slot[0] * WARP;
  for (int l = 0; l < WARP; l++) {
    if (!(mask >> l & 1)) continue;
    uint64_t at = base[l] + (uint64_t)i->offset;
    if (i->shared) at = (uint32_t)at;
    if (at % (size * n)) return stop(x, i, "access of %u bytes at an address that is %llu beyond their multiple", size * n, (unsigned long long)(at % (size * n)));
    unsigned char *memory;
    if (i->shared) {
      if (at + (uint64_t)size * n > x->e->shared) return stop(x, i, "access at %llu of %u bytes of shared memory", (unsigned long long)at, x->e->shared);
      memory = x->shared + at;
    } else {
      if (at < 4096 || (ptx_address && !ptx_address(at, size * n))) return stop(x, i, "access at address %#llx", (unsigned long long)at);
      memory = (unsigned char *)(uintptr_t)at;
    }
    for (unsigned k = 0; k < n; k++, memory += size) {
      uint64_t *slot = w->file + (int64_t)i->slot[1 + k] * WARP + l, v = 0;
      if (i->op == LOAD) {
        memcpy(&v, memory, size);
        *slot = is_signed(i->t) && size < 4 ? (uint32_t)narrow(v, i->t) : v;
      } else memcpy(memory, slot, size);
    }
  }
  return 0;
}

/* step runs one instruction that is no branch for the lanes of mask. */
static int step(run *x, instruction *i, warp *w, uint32_t mask) {
  uint64_t *d = w->file + (int64_t)i->slot[0] * WARP, *a = w->file + (int64_t)i->slot[1] * WARP;
  uint64_t *b = w->file + (int64_t)i->slot[2] * WARP, *c = w->file + (int64_t)i->slot[3] * WARP;
  int narrower = size_of(i->t) == 4;
  switch (i->op) {
  case LOAD: case STORE:
    return access_memory(x, i, w, mask);
  case PARAM: {
    uint64_t v = 0;
    memcpy(&v, x->params[i->offset], size_of(i->t));
    EACH(d[l] = v);
    break;
  }
  case MOV: EACH(d[l] = a[l]); break;
  case ADD: ARITHMETIC(p + q); break;
  case SUB: ARITHMETIC(p - q); break;
  case MUL: ARITHMETIC(p * q); break;
  case DIV: case REM:
    if (is_float(i->t)) {
      FLOATS(p / q);
      break;
    }
    for (int l = 0; l < WARP; l++) {
      if (!(mask >> l & 1)) continue;
      uint64_t p = narrow(a[l], i->t), q = narrow(b[l], i->t), least = size_of(i->t) == 4 ? (uint64_t)(int64_t)INT32_MIN : 1ull << 63;
      if (!q) return stop(x, i, "division of an integer by zero");
      if (is_signed(i->t) && p == least && q == ~0ull) return stop(x, i, "a quotient that leaves its type");
      if (is_signed(i->t)) p = (uint64_t)(i->op == DIV ? (int64_t)p / (int64_t)q : (int64_t)p % (int64_t)q);
      else p = i->op == DIV ? p / q : p % q;
      d[l] = narrower ? (uint32_t)p : p;
    }
    break;
  case MULHI:
    if (narrower) EACH(d[l] = (a[l] & 0xffffffff) * (b[l] & 0xffffffff) >> 32);
    else EACH(d[l] = (uint64_t)((unsigned __int128)a[l] * b[l] >> 64));
    break;
  case WIDE: EACH(d[l] = narrow(a[l], i->t) * narrow(b[l], i->t)); break;
  case MAD: EACH(uint64_t v = a[l] * b[l] + c[l]; d[l] = narrower ? (uint32_t)v : v); break;
  case FMA:
    if (narrower) EACH(d[l] = of_f32(fmaf(to_f32(a[l]), to_f32(b[l]), to_f32(c[l]))));
    else EACH(d[l] = of_f64(fma(to_f64(a[l]), to_f64(b[l]), to_f64(c[l]))));
    break;
  case SQRT:
    if (narrower) EACH(d[l] = of_f32(sqrtf(to_f32(a[l]))));
    else EACH(d[l] = of_f64(sqrt(to_f64(a[l]))));
    break;
  case NEG:
    if (is_float(i->t)) EACH(d[l] = a[l] ^ (narrower ? 1ull << 31 : 1ull << 63));
    else EACH(d[l] = narrower ? (uint32_t)-a[l] : -a[l]);
    break;
  case ABS:
    if (is_float(i->t)) EACH(d[l] = a[l] & (narrower ? 0x7fffffff : ~(1ull << 63)));
    else EACH(uint64_t v = narrow(a[l], i->t); v = (int64_t)v < 0 ? -v : v; d[l] = narrower ? (uint32_t)v : v);
    break;
  case MIN: case MAX:
    EACH(uint64_t p = narrow(a[l], i->t); uint64_t q = narrow(b[l], i->t); int less = is_signed(i->t) ? (int64_t)p < (int64_t)q : p < q;
         d[l] = less == (i->op == MIN) ? a[l] : b[l]);
    break;
  case AND: EACH(d[l] = a[l] & b[l]); break;
  case OR: EACH(d[l] = a[l] | b[l]); break;
  case XOR: EACH(d[l] = a[l] ^ b[l]); break;
  case NOT: EACH(d[l] = i->t == PRED ? !a[l] : narrower ? (uint32_t)~a[l] : ~a[l]); break;
  case SHL: {
    unsigned bits = 8 * size_of(i->t);
    EACH(uint32_t n = (uint32_t)b[l]; uint64_t v = n >= bits ? 0 : a[l] << n; d[l] = narrower ? (uint32_t)v : v);
    break;
  }
  case SHR: {
    unsigned bits = 8 * size_of(i->t);
    EACH(uint32_t n = (uint32_t)b[l]; uint64_t v = narrow(a[l], i->t);
         v = is_signed(i->t) ? (uint64_t)((int64_t)v >> (n >= bits ? bits - 1 : n)) : n >= bits ? 0 : v >> n;
         d[l] = narrower ? (uint32_t)v : v);
    break;
  }
  case SETP: EACH(d[l] = compared(i, a[l], b[l])); break;
  case SELP: EACH(d[l] = c[l] & 1 ? a[l] : b[l]); break;
  case CVT: EACH(d[l] = converted(i, a[l])); break;
  default: break;
  }
  return 0;
}

/* advance runs a warp until each of its threads waits at a barrier or is done. Threads at
 * the least instruction go first, so that those that part meet again. */
static int advance(run *x, warp *w) {
  entry *e = x->e;
  for (;;) {
    int pc = INT32_MAX, next = INT32_MAX;
    uint32_t mask = 0;
    for (int l = 0; l < WARP; l++) {
      if (w->state[l] != RUNS) continue;
      if (w->pc[l] < pc) next = pc, pc = w->pc[l], mask = 1u << l;
      else if (w->pc[l] == pc) mask |= 1u << l;
      else if (w->pc[l] < next) next = w->pc[l];
    }
    if (!mask) return 0;
    for (int parted = 0; !parted; pc++) {
      if (pc == next) {
        for (int l = 0; l < WARP; l++) if (mask >> l & 1) w->pc[l] = pc;
        break;
      }
      if (pc >= e->length) {
        for (int l = 0; l < WARP; l++) if (mask >> l & 1) w->state[l] = DONE;
        break;
      }
      instruction *i = &e->code[pc];
      if (++x->steps > 1ull << 33) return stop(x, i, "too many instructions: it does not end");
      uint32_t on = mask;
      if (i->guard >= 0) {
        uint64_t *g = w->file + (int64_t)i->guard * WARP;
        uint32_t held = 0;
        for (int l = 0; l < WARP; l++) held |= (uint32_t)(g[l] & 1) << l;
        on &= i->negated ? ~held : held;
      }
      switch (i->op) {
      case BRA: case RET: case BAR:
        parted = 1;
        for (int l = 0; l < WARP; l++) {
          if (!(mask >> l & 1)) continue;
          w->pc[l] = pc + 1;
          if (!(on >> l & 1)) continue;
          if (i->op == BRA) w->pc[l] = i->target;
          else w->state[l] = i->op == RET ? DONE : WAITS;
        }
        break;
      default:
        if (on && step(x, i, w, on)) return 1;
      }
    }
  }
}

/* ptx_order sets whether the warps of a block begin with the last one. */
static int backwards;
void ptx_order(int last_first) { backwards = last_first; }

static int run_block(run *x, warp *warps, unsigned threads) {
  unsigned n = (threads + WARP - 1) / WARP;
  for (int phase = 0;; phase++) {
    for (unsigned k = 0; k < n; k++)
      if (advance(x, &warps[(phase & 1) != backwards ? n - 1 - k : k])) return 1;
    int at = -1, waiting = 0;
    for (unsigned t = 0; t < threads; t++) {
      warp *w = &warps[t / WARP];
      if (w->state[t % WARP] != WAITS) continue;
      if (at >= 0 && at != w->pc[t % WARP]) return stop(x, &x->e->code[at - 1], "threads wait at different barriers");
      at = w->pc[t % WARP];
      w->state[t % WARP] = RUNS;
      waiting++;
    }
    if (!waiting) return 0;
    if (waiting != (int)threads) return stop(x, &x->e->code[at - 1], "%d of %u threads wait at a barrier", waiting, threads);
  }
}

/* ptx_check returns whether text is a module that this file can run; why says what is not. */
int ptx_check(const char *text, char *why, int why_len) { return module_of(text, why, why_len) ? 0 : 1; }

/* ptx_launch runs an entry of a module. Pointers among the parameters are addresses of this
 * process. */
int ptx_launch(const char *text, const char *name, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
               void **params, char *why, int why_len) {
  module *m = module_of(text, why, why_len);
  if (!m) return 1;
  entry *e = NULL;
  for (int i = 0; i < m->n; i++)
    if (!strcmp(m->entries[i]->name, name)) e = m->entries[i];
  if (!e) {
    snprintf(why, why_len, "the module has no entry %s", name);
    return 1;
  }
  unsigned threads = bx * by * bz;
  if (!gx || !gy || gz != 1 || bz != 1 || !threads || threads > e->most_threads || gx > INT32_MAX || gy > 65535) {
    snprintf(why, why_len, "entry %s: a grid of %u x %u x %u blocks of %u x %u x %u threads", name, gx, gy, gz, bx, by, bz);
    return 1;
  }
  unsigned n = (threads + WARP - 1) / WARP;
  size_t slots = (size_t)e->slots * WARP;
  warp *warps = calloc(n, sizeof *warps);
  uint64_t *files = malloc(n * slots * 8);
  run x = {.e = e, .params = params, .shared = malloc(e->shared + 1), .why = why, .why_len = why_len};
  memset(files, 0xa5, n * slots * 8);
  int failed = 0;
  for (unsigned k = 0; k < n; k++) {
    warps[k].file = files + k * slots;
    for (int l = 0; l < WARP; l++) {
      unsigned t = k * WARP + l;
      uint64_t *file = warps[k].file + l;
      file[0 * WARP] = t % bx, file[1 * WARP] = t / bx, file[2 * WARP] = bx, file[3 * WARP] = by;
      file[6 * WARP] = gx, file[7 * WARP] = gy;
      for (int i = 0; i < e->consts; i++) file[(size_t)e->constants[i].slot * WARP] = e->constants[i].value;
    }
  }
  for (unsigned y = 0; y < gy && !failed; y++)
    for (unsigned b = 0; b < gx && !failed; b++) {
      memset(x.shared, 0xee, e->shared);
      for (unsigned k = 0; k < n; k++)
        for (int l = 0; l < WARP; l++) {
          warps[k].file[4 * WARP + l] = b, warps[k].file[5 * WARP + l] = y;
          warps[k].pc[l] = 0;
          warps[k].state[l] = k * WARP + l < threads ? RUNS : DONE;
        }
      failed = run_block(&x, warps, threads);
    }
  free(x.shared);
  free(files);
  free(warps);
  return failed;
}
