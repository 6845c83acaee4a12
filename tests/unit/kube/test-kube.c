/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/kube/convert.h"
#include "tests/unit/base/parse-tests.h"

/* What tests/cases/45-kube has not: what is refused, and where. A good one prints the lines that say something. */

static char *parse(const char *value, GError **error) {
        g_autoptr(Kube) kube = kube_new();
        g_auto(GStrv) lines = NULL;
        GString *text = g_string_new(NULL);

        kube->stem = "app";
        kube->path = "/app.kube";
        kube_add(kube, "/app.yaml", value, strlen(value), false);
        kube_convert(kube);
        lines = g_strsplit(kube->output->str, "\n", -1);
        for (char **line = lines; *line; line++)
                if ((*line)[0] == (kube->failed ? 'E' : 'W'))
                        g_string_append_printf(text, "%s;", *line + 2);
        if (!kube->failed)
                return g_string_free(text, FALSE);
        error_set(error, KT_ERROR_FAILED, "%s", text->str);
        g_string_free(text, TRUE);
        return NULL;
}

#define POD(spec) "kind: Pod\nmetadata: {name: web}\nspec: " spec
#define CONTAINER(fields) POD("{containers: [{name: a, image: b" fields "}]}")
#define SECRET(fields) "\n---\nkind: Secret\nmetadata: {name: s}\n" fields
#define VOLUME(volume, mount)                                                                                   \
        POD("{volumes: [{name: v, " volume "}], containers: [{name: a, image: b, volumeMounts: [{name: v" mount \
            "}]}]}")

static const GoodValue good[] = {
        { CONTAINER(""), "" },
        { CONTAINER(", command: [a], args: []"), "" },
        { CONTAINER(", env: [{name: A, valueFrom: {secretKeyRef: {name: no, key: x, optional: true}}}]"), "" },
        { CONTAINER(", readinessProbe: {}"),
          "3:57: spec.containers[0].readinessProbe: is ignored: nobody asks whether a container is ready;" },
        { VOLUME("hostPath: {path: /srv, type: DirectoryOrCreate}", ", mountPath: /x"),
          "3:38: spec.volumes[0].hostPath: nothing is created at '/srv': it must be there, by tmpfiles.d(5) for "
          "example;" },
        { POD("{containers: [{image: b}]}"),
          "3:21: spec.containers[0]: has no name, which Kubernetes refuses: it is called 'unnamed';" },
        { VOLUME("emptyDir: {mode: 01777}", ", mountPath: /x"), "" },
        { VOLUME("hostPath: null, emptyDir: {}", ", mountPath: /x"), "" },
        { VOLUME("hostPath: {path: /srv}", ", mountPath: '/x:ro,Z', readOnly: true"), "" },
        { VOLUME("configMap: {name: m, optional: true}", ", mountPath: '/x:Z'"), "" },
        { POD("{hostPid: true, containers: [{name: a, image: b}]}"),
          "3:17: spec.hostPid: is taken for hostPID, as by Podman; Kubernetes does not know it;" },
        { CONTAINER("") "\n---\nkind: Ingress\n", "5:1: a Ingress is ignored: it is nothing that runs;" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_FAILED, "0:0: no file of Yaml= has a Pod" },
        { "a", KT_ERROR_FAILED, "1:1: this document has no kind" },
        { "kind: Pod", KT_ERROR_FAILED, "needs a name" },
        { "kind: Pod\nmetadata: {name: ../x}", KT_ERROR_FAILED, "2:11: metadata: needs a name" },
        { POD("{}"), KT_ERROR_FAILED, "spec: has no containers" },
        { CONTAINER(", lifecycle: {postStart: {}}"), KT_ERROR_FAILED,
          "3:64: spec.containers[0].lifecycle.postStart: is not supported" },
        { VOLUME("hostPath: {path: /srv}, emptyDir: {}", ", mountPath: /x"), KT_ERROR_FAILED,
          "3:62: spec.volumes[0].emptyDir: the volume has hostPath (line 3), and can have one kind: remove one" },
        { VOLUME("emptyDir: {mode: 02777}", ", mountPath: /x"), KT_ERROR_FAILED, "mode: is no mode: 0 to 1777" },
        { POD("{containers: [{image: b}, {image: b}]}"), KT_ERROR_FAILED,
          "spec.containers[1]: there is another one" },
        { POD("{hostPid: true, hostPID: true, containers: [{name: a, image: b}]}"), KT_ERROR_FAILED,
          "3:17: spec.hostPid: is there twice: as hostPID, too" },
        { CONTAINER(", securityContex: {}"), KT_ERROR_FAILED, "spec.containers[0].securityContex: unknown field" },
        { CONTAINER(", securityContext: {runAsNonRoot: true}"), KT_ERROR_FAILED, "name one in runAsUser" },
        { CONTAINER(", securityContext: {runAsNonRoot: true, runAsUser: 0}"), KT_ERROR_FAILED, "runAsUser" },
        { CONTAINER(", securityContext: {allowPrivilegeEscalation: no}"), KT_ERROR_FAILED, "must be true or false" },
        { CONTAINER(", securityContext: {seccompProfile: {type: Localhost, localhostProfile: a.json}}"),
          KT_ERROR_FAILED, "an absolute path" },
        { CONTAINER(", image: c"), KT_ERROR_FAILED, "the key is in this map already" },
        { CONTAINER(", imagePullPolicy: Sometimes"), KT_ERROR_FAILED, "must be IfNotPresent" },
        { CONTAINER(", resources: {limits: {memory: much}}"), KT_ERROR_FAILED, "'much' is no quantity" },
        { CONTAINER(", resources: {limits: {nvidia.com/gpu: 1}}"), KT_ERROR_FAILED, "unknown field" },
        { CONTAINER(", env: [{name: 'A=B', value: x}]"), KT_ERROR_FAILED, "'A=B' is no name" },
        { CONTAINER(", env: [{name: A, valueFrom: {configMapKeyRef: {name: no, key: x}}}]"), KT_ERROR_FAILED,
          "'no': no file of Yaml= or ConfigMap= has a ConfigMap" },
        { CONTAINER(", env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]"), KT_ERROR_FAILED,
          "'status.podIP' is not known ahead" },
        { CONTAINER(", args: [$(A)], env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: x}}}]")
                  SECRET("stringData: {x: y}"),
          KT_ERROR_FAILED, "spec.containers[0].args[0]: a variable of a Secret is in it" },
        { CONTAINER(", env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: x}}}]") SECRET("data: {x: '***'}"),
          KT_ERROR_FAILED, "is not base64" },
        { CONTAINER(", livenessProbe: {grpc: {port: 1}}"), KT_ERROR_FAILED, "use exec" },
        { CONTAINER(", livenessProbe: {tcpSocket: {port: http}}"), KT_ERROR_FAILED, "'http' is neither" },
        { CONTAINER(", volumeMounts: [{name: v, mountPath: /x}]"), KT_ERROR_FAILED, "no such volume" },
        { VOLUME("hostPath: {path: srv}", ", mountPath: /x"), KT_ERROR_FAILED, "path must be absolute" },
        { VOLUME("hostPath: {path: /srv}", ", mountPath: /x, subPath: y"), KT_ERROR_FAILED, "subPath" },
        { VOLUME("emptyDir: {}", ", mountPath: /x, subPath: ../y"), KT_ERROR_FAILED, "no path below" },
        { VOLUME("emptyDir: {}", ", mountPath: '/x:ro:z'"), KT_ERROR_FAILED, "behind one ':'" },
        { VOLUME("emptyDir: {}", ", mountPath: 'x:ro'"), KT_ERROR_FAILED, "must be an absolute path" },
        { VOLUME("emptyDir: {}", ", mountPath: ':ro'"), KT_ERROR_FAILED, "must be an absolute path" },
        { VOLUME("emptyDir: {}", ", mountPath: '/x:rw', readOnly: true"), KT_ERROR_FAILED, "remove one of the two" },
        { VOLUME("emptyDir: {}", ", mountPath: '/x:z', subPath: y"), KT_ERROR_FAILED, "'z': mountPropagation" },
        { VOLUME("image: {reference: i}", ", mountPath: '/x:Z'"), KT_ERROR_FAILED, "'Z': mountPropagation" },
        { VOLUME("hostPath: {path: /dev/x, type: CharDevice}", ", mountPath: '/x:z'"), KT_ERROR_FAILED,
          "'z': a device takes no options" },
        { VOLUME("nfs: {}", ", mountPath: /x"), KT_ERROR_FAILED, "is not supported" },
        { VOLUME("configMap: {name: m, items: [{key: k, path: ../../k}]}",
                 ", mountPath: /x") "\n---\n"
                                    "kind: ConfigMap\nmetadata: {name: m}\ndata: {k: v}",
          KT_ERROR_FAILED, "no path below the volume" },
        { VOLUME("configMap: {name: m}", ", mountPath: /x") "\n---\n"
                                                            "kind: ConfigMap\nmetadata: {name: m}\ndata: {..: v}",
          KT_ERROR_FAILED, "no path below the volume" },
        { POD("{shareProcessNamespace: true, containers: [{name: a, image: b}]}"), KT_ERROR_FAILED,
          "each container has its own processes" },
        { POD("{runtimeClassName: kata, containers: [{name: a, image: b}]}"), KT_ERROR_FAILED, "is not isolated" },
        { POD("{containers: [{name: a, image: b}, {name: a, image: b}]}"), KT_ERROR_FAILED, "there is another one" },
        /* An empty value takes back those before it. */
        { CONTAINER(", securityContext: {capabilities: {drop: [ALL, '']}}"), KT_ERROR_FAILED,
          "spec.containers[0].securityContext.capabilities.drop[1]: is empty" },
        { POD("{securityContext: {supplementalGroups: [keep-groups]}, containers: [{name: a, image: b}]}"),
          KT_ERROR_FAILED, "supplementalGroups[0]: must be a number" },
        { POD("{securityContext: {fsGroup: keep-groups}, containers: [{name: a, image: b}]}"), KT_ERROR_FAILED,
          "fsGroup: must be a number" },
        /* No claim is a path of the host's, or a file of somebody else's. */
        { VOLUME("persistentVolumeClaim: {claimName: /etc}", ", mountPath: /x"), KT_ERROR_FAILED,
          "no name of a volume" },
        { VOLUME("persistentVolumeClaim: {claimName: 'a:/etc'}", ", mountPath: /x"), KT_ERROR_FAILED,
          "no name of a volume" },
        { VOLUME("persistentVolumeClaim: {claimName: other.volume}", ", mountPath: /x"), KT_ERROR_FAILED,
          "no name of a volume" },
        { VOLUME("emptyDir: {}", ", mountPath: /x, subPath: y, mountPropagation: Bidirectional"), KT_ERROR_FAILED,
          "are for whole volumes" },
        { CONTAINER("") "\n---\nkind: ConfigMap\nmetadata: {name: m}\ndta: {a: b}", KT_ERROR_FAILED,
          "7:6: dta: unknown field" },
        { CONTAINER("") "\n---\nkind: Secret\nmetadata: {name: s}\nbinaryData: {a: b}", KT_ERROR_FAILED,
          "7:13: binaryData: unknown field" },
        { CONTAINER("") "\n---\n" CONTAINER(""), KT_ERROR_FAILED, "there is another one" },
};

PARSE_TESTS(parse)

TEST_MAIN("kube", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
