/* The pagat game as a plain C program, for speed to be measured against: tables played at random, dealt again as soon
 * as they are settled, their rows for a policy written after every step.
 *
 * It does the work of `Tables` and writes the same bytes (tests/test_c_baseline.py), with everything a program for one
 * game alone can do: compiled for one table size, no option of the rules, a state made for these very rows, stepping,
 * dealing and writing in one pass. Numbers such as 3.10 are rules of RULES.md.
 */
#include <stdint.h>
#include <string.h>
#include <time.h>

#ifndef SEATS
#define SEATS 4
#endif

typedef uint64_t Set; /* of cards: bit 13 * suit + rank; trumps are suit 0 except in `deck` */

enum { HAND = 5, RANKS = 13, CARDS = 52, ANTE = 1, MAJORITY = 3 };
enum { WORDS = 4 + HAND + SEATS, ACTIONS = 85, FIRST_STAY = 52, PASS = 84 };
enum { VIEW_PACKED, VIEW_MASK, VIEW_FLOAT32 };

#define BIT(n) ((uint64_t)1 << (n))
#define LOW_BITS(n) (BIT(n) - 1)
#define ALL LOW_BITS(CARDS)
#define TRUMPS LOW_BITS(RANKS)
#define SEAT_MASK ((1u << SEATS) - 1)
#define GOLDEN 0x9E3779B97F4A7C15u

/* First bits of the observation's flags. */
enum { PHASE_DECLARE = 52, PHASE_PLAY = 54, LED_SUIT = 55, TRICKS_DONE = 59 };
enum { DEALER = 52, LAST_TO_PLAY = 60, EXEMPT = 52, TURN_UP_GONE = 60, POT = 52, LEADER = 52, SEAT_EXISTS = 52 };
enum { STAYED = 52, PASSED = 53, DISCARDS = 54, TRICKS = 59 };

typedef struct {
    Set hand[SEATS], dealt[SEATS];
    uint64_t shown[SEATS];        /* each seat's word of the observation: cards played and flags */
    Set tricks[2 * HAND - 1];     /* the newest at HAND - 1 - tricks_done, then the older ones, then nothing */
    uint64_t legal[2];            /* bit a of 128: action a is legal */
    uint64_t public_flags;        /* of word 0: phase, suit led, tricks done */
    uint64_t turn_up_word;        /* the turn-up and the pot, which is the same all through a deal */
    Set led, beating;             /* cards of the suit led, cards that beat the best one; all of them on lead */
    Set pile, gone, turn_up_gone; /* 3.10; seen to leave the game; the turn-up once thrown away */
    int64_t pot;
    uint8_t tricks_won[SEATS];
    uint8_t is_playing, to_act, dealer, leader, best_seat, best_card;
    uint8_t stayed, exempt, tricks_done, left_to_play, dealer_must_stay;
    uint8_t trump_suit, stock_next, stock_end, num_reshuffles;
    uint8_t deck[CARDS];          /* real ids in dealing order; the stock, until it is reshuffled */
    uint8_t reshuffled[CARDS];
} Table;

typedef struct {
    Table *tables;
    int64_t num_tables, deals, steps;
    uint64_t seed;
    int64_t *actions;   /* [B] the last ones taken */
    uint64_t *legal;    /* [B, 2] */
    uint64_t *words;    /* [B, WORDS] */
    uint8_t *mask;      /* [B, ACTIONS] */
    float *features;    /* [B, 64 * WORDS] */
    int32_t *returns;   /* [B, SEATS] of the last deal settled there, like the next two */
    int64_t *carry;     /* [B] */
    uint8_t *exempt;    /* [B] mask of seats */
} Engine;

static Set BEATING[CARDS];        /* 4.6 */
static uint8_t NEXT[1 << SEATS][SEATS]; /* the next seat of a mask, clockwise */
static uint64_t BYTES_OF[256];    /* the bits of a byte as bytes 0 and 1 */
static float FLOATS_OF[256][8];

int64_t table_bytes(void) { return sizeof(Table); }

/* --- shuffling: section 8 --- */

static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static inline uint64_t stream_key(uint64_t seed, uint64_t id) { return mix(mix(seed + GOLDEN) + GOLDEN * (id + 1)); }

static inline void shuffle(uint8_t *cards, int number, uint64_t key) {
    uint8_t others[CARDS]; /* in a loop of their own, which the compiler can vectorise */
    for (int k = 1; k < number; k++)
        others[k] = (uint8_t)((mix(key + GOLDEN * (uint64_t)k) >> 32) * (uint64_t)(number - k + 1) >> 32);
    for (int k = 1; k < number; k++) {
        uint8_t card = cards[number - k];
        cards[number - k] = cards[others[k]];
        cards[others[k]] = card;
    }
}

/* --- cards --- */

static inline Set to_relative(Set cards, int trump_suit) {
    Set below = LOW_BITS(RANKS * trump_suit), trumps = TRUMPS << RANKS * trump_suit;
    return (cards & ~below & ~trumps) | (cards & below) << RANKS | (cards & trumps) >> RANKS * trump_suit;
}

static inline int count(Set cards) { return __builtin_popcountll(cards); }
static inline int lowest(Set cards) { return __builtin_ctzll(cards); }
static inline Set highest(Set cards) { return BIT(63 - __builtin_clzll(cards)); }
static inline int clockwise(int seat) { return seat + 1 < SEATS ? seat + 1 : 0; }

/* --- what is legal: sections 3 to 5 --- */

static int is_cinch(Set held, Set outstanding, int tricks_won) { /* 5.1, 5.2 */
    int sure = tricks_won, threats = 0;
    for (Set trumps = held | outstanding; trumps;) {
        Set card = highest(trumps);
        trumps ^= card;
        if (card & outstanding)
            threats++;
        else if (threats)
            threats--;
        else
            sure++;
    }
    return sure >= MAJORITY;
}

static inline Set cards_to_play(const Table *t) {
    Set hand = t->hand[t->to_act], trumps = hand & TRUMPS, in_suit = hand & t->led;
    Set choice = in_suit ? in_suit : trumps ? trumps : hand;
    Set over = choice & t->beating;
    Set allowed = over ? over : choice;
    int won = t->tricks_won[t->to_act], is_leading = t->led == ALL;
    if (won + count(trumps) < MAJORITY || !trumps) return allowed;
    if (!is_leading && (allowed & ~TRUMPS || t->left_to_play == 1)) return allowed; /* 5.4, 5.5 */
    Set outstanding = TRUMPS & ~trumps & ~t->gone;
    if (!(trumps & t->beating)) outstanding |= BIT(t->best_card);
    return is_cinch(trumps, outstanding, won) ? highest(trumps) : allowed;
}

static inline void find_legal(Table *t) {
    if (t->is_playing) {
        t->legal[0] = cards_to_play(t);
        t->legal[1] = 0;
    } else { /* every discard: stock and pile hold at least twelve cards at any table size (3.10) */
        t->legal[0] = ~(uint64_t)0 << FIRST_STAY;
        t->legal[1] = LOW_BITS(PASS - 64 + !(t->dealer_must_stay && t->to_act == t->dealer));
    }
}

/* --- settling: section 6 --- */

static inline void close_deal(Engine *e, int64_t row, const int64_t won[SEATS], int exempt, int64_t carry) {
    const Table *t = &e->tables[row];
    for (int seat = 0; seat < SEATS; seat++)
        e->returns[row * SEATS + seat] = (int32_t)(won[seat] - (t->exempt >> seat & 1 ? 0 : ANTE));
    e->exempt[row] = (uint8_t)exempt;
    e->carry[row] = carry;
}

static inline void collect(Engine *e, int64_t row, int seat) { /* 3.7, 3.8 */
    int64_t won[SEATS] = {0};
    won[seat] = e->tables[row].pot;
    close_deal(e, row, won, 0, 0);
}

static inline void settle(Engine *e, int64_t row) {
    const Table *t = &e->tables[row];
    int most = 0, leaders = 0, bourres = 0;
    int64_t won[SEATS] = {0}, carry = t->pot;
    for (int seat = 0; seat < SEATS; seat++) {
        int tricks = t->tricks_won[seat];
        leaders = tricks > most ? 1 << seat : tricks == most ? leaders | 1 << seat : leaders;
        most = tricks > most ? tricks : most;
        if (t->stayed >> seat & 1 && !tricks) {
            bourres |= 1 << seat;
            won[seat] = -t->pot;
            carry += t->pot;
        }
    }
    int is_won = !(leaders & (leaders - 1));
    if (is_won) {
        won[lowest((Set)leaders)] = t->pot;
        carry -= t->pot;
    }
    close_deal(e, row, won, bourres | (is_won ? 0 : leaders), carry);
}

/* --- acting: sections 3 and 4; each function tells whether the deal is over --- */

static void reshuffle(Table *t) { /* 3.10, 8.4 */
    int suit_numbers[4] = {-1, -1, -1, -1}, suits_met = 0, number = 0;
    uint64_t hash = 0;
    for (int place = 0; place < CARDS; place++) {
        int suit = t->deck[place] / RANKS, rank = t->deck[place] % RANKS;
        if (suit_numbers[suit] < 0) suit_numbers[suit] = suits_met++;
        hash = mix(hash ^ (uint64_t)(RANKS * suit_numbers[suit] + rank + 1));
    }
    for (int place = 0; place < CARDS; place++)
        if (t->pile & to_relative(BIT(t->deck[place]), t->trump_suit)) t->reshuffled[number++] = t->deck[place];
    t->num_reshuffles++;
    shuffle(t->reshuffled, number, mix(hash + GOLDEN * t->num_reshuffles));
    t->stock_next = 0;
    t->stock_end = (uint8_t)number;
    t->pile = 0;
}

static inline Set serve(Table *t, int number) {
    const uint8_t *stock = t->num_reshuffles ? t->reshuffled : t->deck;
    Set served = 0;
    if (t->stock_end - t->stock_next >= HAND) { /* no branch on the number, which nobody can predict */
        for (int i = 0; i < HAND; i++) served |= (Set)(i < number) << stock[t->stock_next + i];
        t->stock_next = (uint8_t)(t->stock_next + number);
    } else {
        for (; number > 0; number--) {
            if (t->stock_next == t->stock_end) reshuffle(t);
            served |= BIT((t->num_reshuffles ? t->reshuffled : t->deck)[t->stock_next++]);
        }
    }
    return to_relative(served, t->trump_suit);
}

static inline void draw(Table *t, int seat, unsigned discard_mask) {
    Set left = t->hand[seat], discards = 0, turn_up = t->turn_up_word & ALL;
    for (int i = 0; i < HAND; i++) {
        Set rest = left & (left - 1);
        discards |= (left ^ rest) & -(Set)(discard_mask >> i & 1);
        left = rest;
    }
    int number = count(discards);
    t->hand[seat] = (t->hand[seat] ^ discards) | serve(t, number);
    t->shown[seat] |= LOW_BITS(number) << DISCARDS;
    t->pile |= discards & ~turn_up; /* after service: own discards do not come back (3.10) */
    t->turn_up_gone |= discards & turn_up;
    t->gone |= discards & turn_up;
}

static inline void begin_trick(Table *t, int leader) {
    t->leader = t->to_act = (uint8_t)leader;
    t->led = t->beating = ALL;
    t->left_to_play = (uint8_t)count(t->stayed);
    t->public_flags = BIT(PHASE_PLAY) | LOW_BITS(t->tricks_done) << TRICKS_DONE;
}

static inline int declare(Engine *e, int64_t row, int action) {
    Table *t = &e->tables[row];
    int seat = t->to_act;
    if (action == PASS) {
        t->shown[seat] = BIT(PASSED);
        t->pile |= t->hand[seat];
        t->hand[seat] = 0;
    } else {
        t->shown[seat] = BIT(STAYED);
        t->stayed |= (uint8_t)(1 << seat);
        draw(t, seat, (unsigned)(action - FIRST_STAY));
    }
    if (seat != t->dealer) {
        t->to_act = (uint8_t)clockwise(seat);
        if (t->to_act != t->dealer || t->stayed) return 0;
        collect(e, row, t->dealer);
        return 1;
    }
    if (!(t->stayed & (t->stayed - 1))) {
        collect(e, row, lowest(t->stayed));
        return 1;
    }
    t->is_playing = 1;
    begin_trick(t, NEXT[t->stayed][t->dealer]);
    return 0;
}

static inline int play_card(Engine *e, int64_t row, int card) {
    Table *t = &e->tables[row];
    int seat = t->to_act;
    Set bit = BIT(card);
    t->hand[seat] ^= bit;
    t->shown[seat] |= bit;
    t->tricks[HAND - 1 - t->tricks_done] |= bit;
    t->gone |= bit;
    if (t->led == ALL) {
        t->led = TRUMPS << RANKS * (card / RANKS);
        t->public_flags |= BIT(LED_SUIT + card / RANKS);
    }
    if (t->beating & bit) {
        t->beating = BEATING[card];
        t->best_card = (uint8_t)card;
        t->best_seat = (uint8_t)seat;
    }
    if (--t->left_to_play) {
        t->to_act = NEXT[t->stayed][seat];
        return 0;
    }
    t->shown[t->best_seat] |= BIT(TRICKS + t->tricks_won[t->best_seat]++);
    if (++t->tricks_done == HAND) {
        settle(e, row);
        return 1;
    }
    begin_trick(t, t->best_seat);
    return 0;
}

/* --- dealing: section 2 --- */

static uint64_t pot_flags(int64_t pot) {
    static const int steps[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128};
    int flags = 0;
    for (int k = 0; k < 12; k++) flags += 2 * pot >= (int64_t)steps[k] * ANTE * SEATS;
    return LOW_BITS(flags) << POT;
}

static inline void deal(Table *t, uint64_t key, int dealer, int64_t carry, int exempt) {
    static const uint8_t pack[CARDS] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
        26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51};
    memcpy(t->deck, pack, CARDS);
    shuffle(t->deck, CARDS, key);
    int turn_up = t->deck[HAND * SEATS - 1], trump_suit = turn_up / RANKS, seat = dealer;
    for (int place = 0; place < SEATS; place++) {
        Set hand = 0;
        for (int card = 0; card < HAND; card++) hand |= BIT(t->deck[card * SEATS + place]);
        seat = clockwise(seat);
        t->hand[seat] = t->dealt[seat] = to_relative(hand, trump_suit);
        t->shown[seat] = 0;
        t->tricks_won[seat] = 0;
    }
    memset(t->tricks, 0, sizeof t->tricks);
    t->public_flags = BIT(PHASE_DECLARE);
    t->pot = carry + ANTE * (SEATS - count((Set)exempt));
    t->turn_up_word = BIT(turn_up % RANKS) | pot_flags(t->pot);
    t->pile = t->gone = t->turn_up_gone = 0;
    t->dealer = (uint8_t)dealer;
    t->dealer_must_stay = turn_up % RANKS == RANKS - 1; /* 3.4 */
    t->to_act = (uint8_t)clockwise(dealer);
    t->is_playing = t->stayed = t->tricks_done = t->num_reshuffles = t->left_to_play = 0;
    t->exempt = (uint8_t)exempt;
    t->trump_suit = (uint8_t)trump_suit;
    t->stock_next = HAND * SEATS;
    t->stock_end = CARDS;
}

static inline void deal_next(Engine *e, int64_t row) {
    deal(&e->tables[row], stream_key(e->seed, (uint64_t)e->deals), (int)(e->deals % SEATS), 0, 0);
    e->deals++;
}

/* --- what a policy sees --- */

static inline void observe(const Table *t, uint64_t *words) {
    int seat = t->to_act, dealer = t->dealer - seat, leader = t->leader - seat;
    Set hand = t->hand[seat], dealt = t->dealt[seat];
    unsigned exempt = (t->exempt | (unsigned)t->exempt << SEATS) >> seat & SEAT_MASK;
    words[0] = hand | t->public_flags;
    words[1] = dealt | BIT(DEALER + (dealer < 0 ? dealer + SEATS : dealer));
    words[1] |= (uint64_t)(t->left_to_play == 1) << LAST_TO_PLAY;
    words[2] = (dealt & ~hand & ~t->shown[seat]) | (uint64_t)exempt << EXEMPT;
    words[2] |= (uint64_t)(t->turn_up_gone != 0) << TURN_UP_GONE;
    words[3] = t->turn_up_word;
    memcpy(words + 4, t->tricks + HAND - 1 - t->tricks_done, HAND * sizeof(Set));
    words[4] |= (uint64_t)t->is_playing << (LEADER + (leader < 0 ? leader + SEATS : leader));
    words[5] |= (uint64_t)SEAT_MASK << SEAT_EXISTS;
    for (int place = 0; place < SEATS; place++) {
        words[4 + HAND + place] = t->shown[seat];
        seat = clockwise(seat);
    }
}

static inline void write_mask(const Table *t, uint8_t *mask) {
    for (int byte = 0; byte < 10; byte++)
        memcpy(mask + 8 * byte, &BYTES_OF[t->legal[byte / 8] >> 8 * (byte % 8) & 255], 8);
    memcpy(mask + 80, &BYTES_OF[t->legal[1] >> 16 & 255], ACTIONS - 80);
}

static inline void write_features(const uint64_t *words, float *features) {
    for (int word = 0; word < WORDS; word++)
        for (int byte = 0; byte < 8; byte++)
            memcpy(features + 64 * word + 8 * byte, FLOATS_OF[words[word] >> 8 * byte & 255], sizeof FLOATS_OF[0]);
}

static inline void write_rows(Engine *e, int64_t row, int view) {
    const Table *t = &e->tables[row];
    uint64_t words[WORDS];
    if (view == VIEW_PACKED) {
        memcpy(e->legal + 2 * row, t->legal, sizeof t->legal);
        observe(t, e->words + WORDS * row);
        return;
    }
    write_mask(t, e->mask + ACTIONS * row);
    if (view == VIEW_FLOAT32) {
        observe(t, words);
        write_features(words, e->features + 64 * WORDS * row);
    }
}

/* --- many tables --- */

static inline int is_legal(const Table *t, int64_t action) {
    return (uint64_t)action < 128 && t->legal[action >> 6] >> (action & 63) & 1;
}

static inline int64_t step_all(Engine *e, const int64_t *actions, int view) {
    for (int64_t row = 0; row < e->num_tables; row++)
        if (!is_legal(&e->tables[row], actions[row])) return row;
    for (int64_t row = 0; row < e->num_tables; row++) {
        Table *t = &e->tables[row];
        int action = (int)actions[row];
        if (t->is_playing ? play_card(e, row, action) : declare(e, row, action)) deal_next(e, row);
        find_legal(t);
        write_rows(e, row, view);
    }
    return -1;
}

static int64_t step_view(Engine *e, const int64_t *actions, int view) {
    switch (view) { /* each with a loop of its own */
    case VIEW_PACKED: return step_all(e, actions, VIEW_PACKED);
    case VIEW_MASK: return step_all(e, actions, VIEW_MASK);
    default: return step_all(e, actions, VIEW_FLOAT32);
    }
}

/* One decision at every table; -1, or the first row with an illegal action, and then nothing has changed. */
int64_t step_tables(Engine *e, const int64_t *actions, int view) { return step_view(e, actions, view); }

/* The choice of benchmarks/play.py. */
static void choose_randomly(Engine *e, uint64_t key) {
    for (int64_t row = 0; row < e->num_tables; row++) {
        uint64_t low = e->tables[row].legal[0], high = e->tables[row].legal[1];
        uint64_t word = mix(key + GOLDEN * (uint64_t)(row + 1)), may_pass = high >> (PASS - 64) & 1;
        if (may_pass && (word & 0xFFFF) < 22938) {
            e->actions[row] = PASS;
            continue;
        }
        int nth = (int)((word >> 32) * ((uint64_t)(count(low) + count(high)) - may_pass) >> 32);
        int first = nth < count(low) ? 0 : 64;
        uint64_t bits = first ? high : low;
        for (nth -= first ? count(low) : 0; nth > 0; nth--) bits &= bits - 1;
        e->actions[row] = first + lowest(bits);
    }
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Random play for some steps; CPU seconds spent, those of the player left out. */
double play_tables(Engine *e, int64_t steps, int view) {
    double seconds = 0;
    for (int64_t i = 0; i < steps; i++) {
        choose_randomly(e, stream_key(e->seed, (uint64_t)e->steps++));
        double start = cpu_seconds();
        step_view(e, e->actions, view);
        seconds += cpu_seconds() - start;
    }
    return seconds;
}

static void make_look_up_tables(void) {
    for (int card = 0; card < CARDS; card++) {
        int suit = card / RANKS;
        BEATING[card] = (TRUMPS << RANKS * suit & ~LOW_BITS(card + 1)) | (suit ? TRUMPS : 0);
    }
    for (int mask = 1; mask < 1 << SEATS; mask++)
        for (int seat = 0; seat < SEATS; seat++) {
            int next = clockwise(seat);
            while (!(mask >> next & 1)) next = clockwise(next);
            NEXT[mask][seat] = (uint8_t)next;
        }
    for (int byte = 0; byte < 256; byte++)
        for (int bit = 0; bit < 8; bit++) {
            ((uint8_t *)&BYTES_OF[byte])[bit] = byte >> bit & 1;
            FLOATS_OF[byte][bit] = (float)(byte >> bit & 1);
        }
}

/* Deal every table and write all rows. */
void begin_tables(Engine *e) {
    make_look_up_tables();
    for (int64_t row = 0; row < e->num_tables; row++) {
        deal_next(e, row);
        find_legal(&e->tables[row]);
        write_rows(e, row, VIEW_PACKED);
        write_rows(e, row, VIEW_FLOAT32);
    }
}
