/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/device-program.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/oci/host-facts.h"
#include "libstart/request/device-request.h"
#include "libstart/request/device-rule.h"
#include "libstart/runtime/device-guard.h"

/* systemd makes such a program of DeviceAllow=. It has to know each device before it starts the service, and cannot
 * add to it for what only the start finds: what stands in a directory now, or in a file of CDI. The kernel asks all
 * programs of a cgroup and of those above it, and each must agree. So where systemd does not know
 * (DevicePolicy=auto), this program is the one that forbids.
 *
 * Its registers: 2 what is wanted, 3 the device's type, 4 its major, 5 its minor number. */

#define PROGRAM_NAME "keyturn_devices" /* 15 characters at most */
#define PROGRAMS_MAX 64                /* of one cgroup: the kernel's own limit */

typedef struct bpf_insn Instruction;

static void append(GArray *program, Instruction instruction) {
        g_array_append_val(program, instruction);
}

static void load_word(GArray *program, guint8 destination, gint16 offset) {
        append(program, (Instruction) { .code = BPF_LDX | BPF_W | BPF_MEM,
                                        .dst_reg = destination & 0xf,
                                        .src_reg = BPF_REG_1,
                                        .off = offset });
}

static void calculate(GArray *program, guint8 operation, guint8 destination, gint32 value) {
        append(program,
               (Instruction) { .code = BPF_ALU | operation | BPF_K, .dst_reg = destination & 0xf, .imm = value });
}

/* Where they differ, `skip` instructions are left out. */
static void require_equal(GArray *program, guint8 reg, gint32 value, gint16 skip) {
        append(program,
               (Instruction) { .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = reg & 0xf, .off = skip, .imm = value });
}

static void end_with(GArray *program, gint32 value) {
        calculate(program, BPF_MOV, BPF_REG_0, value);
        append(program, (Instruction) { .code = BPF_JMP | BPF_EXIT });
}

static void begin(GArray *program) {
        load_word(program, BPF_REG_2, offsetof(struct bpf_cgroup_dev_ctx, access_type));
        append(program,
               (Instruction) { .code = BPF_ALU | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_2 });
        calculate(program, BPF_AND, BPF_REG_3, 0xffff);
        calculate(program, BPF_RSH, BPF_REG_2, 16);
        load_word(program, BPF_REG_4, offsetof(struct bpf_cgroup_dev_ctx, major));
        load_word(program, BPF_REG_5, offsetof(struct bpf_cgroup_dev_ctx, minor));
}

static gint32 access_bits(const char *access) {
        return (strchr(access, 'r') ? BPF_DEVCG_ACC_READ : 0) | (strchr(access, 'w') ? BPF_DEVCG_ACC_WRITE : 0) |
               (strchr(access, 'm') ? BPF_DEVCG_ACC_MKNOD : 0);
}

#define ACCESS_LENGTH 5 /* instructions behind those that compare */

/* Allows what is wanted if all of it is in the rule's access; else the next rule is asked. */
static void append_rule(GArray *program, const DeviceRule *rule) {
        if (rule->major > DEVICE_NUMBER_MAX || rule->minor > DEVICE_NUMBER_MAX)
                return; /* nothing has such a number */
        gint16 skip = ACCESS_LENGTH + (rule->type != 'a') + (rule->major != DEVICE_RULE_ALL) +
                      (rule->minor != DEVICE_RULE_ALL);

        if (rule->type != 'a')
                require_equal(program, BPF_REG_3, rule->type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR,
                              --skip);
        if (rule->major != DEVICE_RULE_ALL)
                require_equal(program, BPF_REG_4, (gint32) rule->major, --skip);
        if (rule->minor != DEVICE_RULE_ALL)
                require_equal(program, BPF_REG_5, (gint32) rule->minor, --skip);
        append(program,
               (Instruction) { .code = BPF_ALU | BPF_MOV | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_2 });
        calculate(program, BPF_AND, BPF_REG_0, ~access_bits(rule->access));
        require_equal(program, BPF_REG_0, 0, 2);
        end_with(program, 1);
}

static void append_harmless(GArray *program) {
        static const DeviceRule harmless[] = {
                { 'c', 1, 3, "rwm" },                 /* null */
                { 'c', 1, 5, "rwm" },                 /* zero */
                { 'c', 1, 7, "rwm" },                 /* full */
                { 'c', 1, 8, "rwm" },                 /* random */
                { 'c', 1, 9, "rwm" },                 /* urandom */
                { 'c', 5, 0, "rwm" },                 /* tty */
                { 'c', 5, 2, "rwm" },                 /* ptmx */
                { 'c', 136, DEVICE_RULE_ALL, "rwm" }, /* pts */
        };

        for (size_t i = 0; i < G_N_ELEMENTS(harmless); i++)
                append_rule(program, &harmless[i]);
}

static void append_nodes(GArray *program, const GPtrArray *nodes) {
        for (guint i = 0; i < nodes->len; i++) {
                const DeviceNode *node = nodes->pdata[i];
                DeviceRule rule = { .type = node->type, .major = node->major, .minor = node->minor };

                memcpy(rule.access, node->access, sizeof rule.access);
                append_rule(program, &rule);
                if (node->is_made) { /* and who makes it is under this rule, too */
                        memcpy(rule.access, "m", sizeof "m");
                        append_rule(program, &rule);
                }
        }
}

/* Those that a hook has added. */
static void append_spec_nodes(GArray *program, const GPtrArray *known,
                              const runtime_spec_schema_config_linux *linux_) {
        for (size_t i = 0; i < linux_->devices_len; i++) {
                const runtime_spec_schema_defs_linux_device *device = linux_->devices[i];
                char type = device->type[0] == 'b' ? 'b' : 'c';

                if (!device_nodes_have(known, device->path) && device->major >= 0 &&
                    device->minor >= 0) /* else it would be a rule for all */
                        append_rule(program, &(DeviceRule) { type, device->major, device->minor, "rwm" });
        }
}

static char type_of(const char *type) {
        if (!type || !type[0])
                return 'a';
        if (type[0] == 'u')
                return 'c';
        return type[0];
}

static void append_spec_rules(GArray *program, const runtime_spec_schema_config_linux_resources *resources) {
        for (size_t i = 0; resources && i < resources->devices_len; i++) {
                const runtime_spec_schema_defs_linux_device_cgroup *device = resources->devices[i];
                DeviceRule rule = {
                        .type = type_of(device->type),
                        .major = device->major_present ? device->major : DEVICE_RULE_ALL,
                        .minor = device->minor_present ? device->minor : DEVICE_RULE_ALL,
                };

                if (device->allow && strchr("abc", rule.type) &&
                    device_access_parse(device->access ?: "rwm", rule.access))
                        append_rule(program, &rule);
        }
}

static GArray *make_program(const GPtrArray *nodes, const GArray *rules,
                            const runtime_spec_schema_config_linux *linux_) {
        GArray *program = g_array_new(FALSE, FALSE, sizeof(Instruction));

        begin(program);
        append_harmless(program);
        append_nodes(program, nodes);
        append_spec_nodes(program, nodes, linux_);
        append_spec_rules(program, linux_->resources);
        for (guint i = 0; i < rules->len; i++)
                append_rule(program, &g_array_index(rules, DeviceRule, i));
        end_with(program, 0);
        return program;
}

static int call(enum bpf_cmd command, union bpf_attr *attr) {
        return (int) syscall(SYS_bpf, command, attr, sizeof *attr);
}

static bool attach(int cgroup, int program) {
        union bpf_attr attr = {
                .target_fd = (guint32) cgroup,
                .attach_bpf_fd = (guint32) program,
                .attach_type = BPF_CGROUP_DEVICE,
                .attach_flags = BPF_F_ALLOW_MULTI,
        };

        return call(BPF_PROG_ATTACH, &attr) == 0;
}

static bool is_ours(int program) {
        struct bpf_prog_info info = { 0 };
        union bpf_attr attr = {
                .info = { .bpf_fd = (guint32) program, .info_len = sizeof info, .info = (guint64) (uintptr_t) &info },
        };

        return call(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 && strncmp(info.name, PROGRAM_NAME, sizeof info.name) == 0;
}

static bool detach(int cgroup, guint32 id) {
        union bpf_attr find = { .prog_id = id };
        _cleanup_close_ int program = call(BPF_PROG_GET_FD_BY_ID, &find);
        union bpf_attr attr = {
                .target_fd = (guint32) cgroup,
                .attach_bpf_fd = (guint32) program,
                .attach_type = BPF_CGROUP_DEVICE,
        };

        return program < 0 ? errno == ENOENT : !is_ours(program) || call(BPF_PROG_DETACH, &attr) == 0;
}

/* A service that is restarted may keep its cgroup, and with it the program of its last start: it could forbid a
 * device that has come since. What systemd has attached stays. */
static bool replace(int cgroup, int program) {
        guint32 ids[PROGRAMS_MAX] = { 0 };
        union bpf_attr attr = {
                .query = { .target_fd = (guint32) cgroup,
                           .attach_type = BPF_CGROUP_DEVICE,
                           .prog_ids = (guint64) (uintptr_t) ids,
                           .prog_cnt = PROGRAMS_MAX },
        };

        if (call(BPF_PROG_QUERY, &attr) < 0 || !attach(cgroup, program))
                return false;
        for (guint32 i = 0; i < attr.query.prog_cnt; i++)
                if (!detach(cgroup, ids[i]))
                        return false;
        return true;
}

static int open_own_cgroup(GError **error) {
        g_autofree char *cgroup = process_find_cgroup(0), *path = g_strconcat("/sys/fs/cgroup", cgroup, NULL);
        int fd;

        if (!cgroup)
                return error_negative(
                        error, KT_ERROR_UNSUPPORTED,
                        "The machine has no unified cgroup hierarchy (cgroup v2), so that devices cannot be allowed "
                        "at the start: name the nodes one by one in AddDevice=");
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd >= 0 ? fd : error_negative_errno(error, errno, "Cannot open the service's cgroup, '%s'", path);
}

bool device_guard_set(const GPtrArray *nodes, const GArray *rules, const runtime_spec_schema_config_linux *linux_,
                      GError **error) {
        g_autoptr(GArray) instructions = make_program(nodes, rules, linux_);
        _cleanup_close_ int cgroup = open_own_cgroup(error), program = -1;

        if (cgroup < 0)
                return false;
        program = device_program_load((const Instruction *) (const void *) instructions->data, instructions->len,
                                      PROGRAM_NAME);
        return (program >= 0 && replace(cgroup, program)) ||
               error_set_errno(error, errno, "Cannot forbid the service other devices than its own");
}
